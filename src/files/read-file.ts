/** The tool `read_file`: numbered lines of text files, each answer ending on a line it can be read on from. */
import { type Static, Type } from "@sinclair/typebox"
import { sha256 } from "../lib/sha256.ts"
import { head } from "../lib/text.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import { eachPath, Paths } from "./each-path.ts"
import { EncodingName, formatNote } from "./encoding-name.ts"
import type { FilePiece, Hands } from "./hands.ts"
import { readFailure } from "./read-failure.ts"
import type { Seen, SeenFiles } from "./seen-files.ts"
import { formatOf, NotText, readText, type TextFormat } from "./text-file.ts"
import { type HandsOf, On } from "./which-hands.ts"

export const READ_LIMITS = {
  lines: 2000,
  /** Characters of one answer, its head included. */
  chars: 16_000,
  /** Files up to this size are read as a whole. */
  smallBytes: 256 * 1024,
  /** So much of a file is carried here where its lines cannot be found in place. */
  carriedBytes: 32 * 1024 * 1024,
} as const

export interface ReadFileParts {
  handsOf: HandsOf
  /** Characters of an answer that stay in the prompt. */
  readerChars: number
  seen: SeenFiles
}

const Input = Type.Object(
  {
    path: Paths,
    offset: Type.Optional(Type.Integer({ minimum: 1, description: "First line, from 1" })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: `Lines; ${READ_LIMITS.lines} when absent` }),
    ),
    encoding: EncodingName,
    on: On,
  },
  { additionalProperties: false },
)
type Input = Static<typeof Input>

export const readFileTool = (parts: ReadFileParts): Tool => ({
  name: "read_file",
  group: "client",
  icon: "📄",
  brief: "{path}",
  description:
    "Reads text files as numbered lines headed [lines A-B of N]; path may be a list. Use it rather than a shell: it says where to read on.",
  input: Input,
  gates: ["master_only", "not_public"],
  traits: { windowed: true, concurrent: true },
  run: async (context, input) => {
    const { path, on, ...window } = input as Input
    const hands = parts.handsOf(context, on)
    const maxChars = Math.min(READ_LIMITS.chars, parts.readerChars)
    const { chatId } = context
    const saw: Wanted["saw"] = (at, seen) =>
      parts.seen.saw({ chatId, machine: hands.name, path: at }, seen)
    const read = (one: string, chars: number): Promise<string> =>
      readOne(hands, { ...window, path: one, maxChars: chars, saw })
    return { output: await eachPath(path, maxChars, read) }
  },
})

interface Wanted {
  path: string
  offset?: number
  limit?: number
  encoding?: string
  maxChars: number
  /** What the agent knows of the file now. */
  saw(path: string, seen: Seen): void
}

async function readOne(hands: Hands, wanted: Wanted): Promise<string> {
  const path = hands.resolve(wanted.path)
  try {
    const start = await hands.read(path, { offset: 0, size: READ_LIMITS.smallBytes })
    const complete = start.bytes.length >= start.total
    const format = await formatOf(start.bytes, { named: wanted.encoding, complete })
    if (complete || !hands.lines || !format.encoding.bytewise) {
      const bytes = await carried(hands, path, start)
      const page = await pageOfWhole(bytes, start.total, { ...wanted, path, hands })
      wanted.saw(path, seenOf(start, bytes))
      return page
    }
    const page = await pageInPlace(hands.lines, format, { ...wanted, path, hands })
    wanted.saw(path, seenOf(start, start.bytes))
    return page
  } catch (error) {
    if (error instanceof NotText) throw notText(path, hands, error)
    throw await readFailure(hands, path, error)
  }
}

const seenOf = ({ total, stamp }: FilePiece, bytes: Uint8Array): Seen => ({
  ...(bytes.length >= total && { sha256: sha256(bytes) }),
  ...(stamp !== undefined && { stamp }),
})

const notText = (path: string, { name }: Hands, { message }: NotText): ToolFailure =>
  new ToolFailure(`${path}: ${message} (${name}); read_hex shows its bytes`)

/** The file as far as it may be carried here. */
async function carried(hands: Hands, path: string, start: FilePiece): Promise<Uint8Array> {
  const end = Math.min(start.total, READ_LIMITS.carriedBytes)
  const pieces = [start.bytes]
  let length = start.bytes.length
  while (length < end) {
    const { bytes } = await hands.read(path, { offset: length, size: end - length })
    if (bytes.length === 0) break
    pieces.push(bytes)
    length += bytes.length
  }
  return Buffer.concat(pieces)
}

interface Page extends Wanted {
  hands: Hands
}

async function pageOfWhole(bytes: Uint8Array, total: number, page: Page): Promise<string> {
  const file = await readText(bytes, page.encoding)
  const all = file.text === "" ? [] : file.text.split("\n")
  if (all.at(-1) === "") all.pop()
  const { offset = 1, limit = READ_LIMITS.lines } = page
  const lines = all.slice(offset - 1, offset - 1 + limit)
  return render({ lines, of: all.length, isAll: bytes.length >= total, format: file, page })
}

/** A character takes four bytes at most; what is read beyond the answer is little. */
const CHAR_BYTES_MAX = 4

async function pageInPlace(
  linesOf: NonNullable<Hands["lines"]>,
  format: TextFormat,
  page: Page,
): Promise<string> {
  const { hands, path, offset = 1, limit = READ_LIMITS.lines, maxChars } = page
  const { start, end, total } = await linesOf(path, { from: offset, count: limit })
  const size = Math.min(end - start, maxChars * CHAR_BYTES_MAX)
  const { bytes } = await hands.read(path, { offset: start, size })
  const text = format.encoding.decode(bytes).replace(/^\ufeff/, "")
  const lines = text === "" ? [] : text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return render({ lines, of: total, isAll: true, format, page })
}

interface Rendered {
  /** Those asked for; the last may be cut, and there may be fewer than were asked for. */
  lines: readonly string[]
  of: number
  /** `of` counts all lines there are. */
  isAll: boolean
  format: TextFormat
  page: Page
}

/** Room for the head and for what is said about a line that was cut. */
const HEAD_CHARS = 300

function render({ lines, of, isAll, format, page }: Rendered): string {
  const { offset = 1, limit = READ_LIMITS.lines, hands, path, maxChars } = page
  const reach = isAll
    ? ""
    : `, only the first ${READ_LIMITS.carriedBytes / 2 ** 20} MiB are looked at`
  const about = `${hands.name}:${path}${formatNote(format, { crlf: lines[0]?.endsWith("\r") ?? false })}${reach}`
  const count = isAll ? `${of}` : `at least ${of}`
  if (lines.length === 0) {
    return of === 0
      ? `[lines 0-0 of 0] ${about}\nThe file is empty.`
      : `[lines 0-0 of ${count}] ${about}\nThe file ends before line ${offset}.`
  }
  const wanted = Math.min(limit, of - offset + 1)
  const shown: string[] = []
  let left = Math.max(0, maxChars - HEAD_CHARS - about.length)
  for (const [at, line] of lines.entries()) {
    const numbered = `${offset + at}\t${line.replace(/\r$/, "")}`
    if (numbered.length + 1 > left) break
    left -= numbered.length + 1
    shown.push(numbered)
  }
  if (shown.length === 0) shown.push(cutLine(lines[0]!, offset, left))
  const last = offset + shown.length - 1
  const more = shown.length < wanted || (page.limit === undefined && last < of)
  const on = more ? ` — read on with offset ${last + 1}` : ""
  return `[lines ${offset}-${last} of ${count}${on}] ${about}\n${shown.join("\n")}`
}

const cutLine = (line: string, number: number, room: number): string =>
  `${number}\t${head(line, room)}…\n[line ${number} is longer than an answer and was cut; find_pattern shows places in it]`
