/** The tool `find_pattern`: lines of a text file that match a regular expression, with their numbers. */
import { type Static, Type } from "@sinclair/typebox"
import { type Tool, type ToolAnswer, ToolFailure } from "../tools/tool.ts"
import { Path } from "./each-path.ts"
import { EncodingName, formatNote } from "./encoding-name.ts"
import type { FilePiece, Hands } from "./hands.ts"
import { readFailure } from "./read-failure.ts"
import type { Hit, Scanner, Search } from "./scanner.ts"
import { formatOf, NotText, type TextFormat } from "./text-file.ts"
import { type HandsOf, On } from "./which-hands.ts"

const FIND_LIMITS = {
  hits: 50,
  hitsMax: 500,
  patternChars: 2000,
  /** Characters of one answer. */
  chars: 16_000,
  /** The first piece is small, since a hit is often near; then they grow. */
  firstBytes: 256 * 1024,
  pieceBytesMax: 4 * 1024 * 1024,
} as const

export interface FindPatternParts {
  handsOf: HandsOf
  scanner: Pick<Scanner, "search">
  /** Characters of an answer that stay in the prompt. */
  readerChars: number
}

const Input = Type.Object(
  {
    path: Path,
    pattern: Type.String({
      minLength: 1,
      maxLength: FIND_LIMITS.patternChars,
      description: "RE2 syntax, matched line by line; no look-around, no \\1",
    }),
    flags: Type.Optional(
      Type.String({
        pattern: "^[ixU]*$",
        description: "i: ignore case, x: ignore white space in the pattern, U: lazy quantifiers",
      }),
    ),
    from_line: Type.Optional(Type.Integer({ minimum: 1 })),
    max_hits: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: FIND_LIMITS.hitsMax,
        description: `${FIND_LIMITS.hits} when absent`,
      }),
    ),
    encoding: EncodingName,
    on: On,
  },
  { additionalProperties: false },
)
type Input = Static<typeof Input>

export const findPatternTool = (parts: FindPatternParts): Tool => ({
  name: "find_pattern",
  group: "client",
  icon: "🔎",
  brief: "{pattern} in {path}",
  description:
    "Finds lines of a text file by a regular expression, with their numbers; long lines as a part around the match.",
  input: Input,
  gates: ["master_only", "not_public"],
  traits: { windowed: true, concurrent: true },
  run: async (context, input) => {
    const { on, ...wanted } = input as Input
    const hands = parts.handsOf(context, on)
    const { signal } = context
    const maxChars = Math.min(FIND_LIMITS.chars, parts.readerChars)
    return find({ ...parts, hands, signal, maxChars }, wanted)
  },
})

interface Place extends FindPatternParts {
  hands: Hands
  signal: AbortSignal
  maxChars: number
}

type Wanted = Omit<Input, "on">

async function find(place: Place, wanted: Wanted): Promise<ToolAnswer> {
  const { hands } = place
  const path = hands.resolve(wanted.path)
  try {
    const start = await hands.read(path, { offset: 0, size: FIND_LIMITS.firstBytes })
    const complete = start.bytes.length >= start.total
    const format = await formatOf(start.bytes, { named: wanted.encoding, complete })
    const outcome = await findIn(place, { ...wanted, path, start, format })
    return answer(outcome, { ...wanted, path, format, hands, maxChars: place.maxChars })
  } catch (error) {
    if (error instanceof NotText) {
      throw new ToolFailure(`${path}: ${error.message} (${hands.name}); find_hex finds bytes in it`)
    }
    throw await readFailure(hands, path, error)
  }
}

interface TextAt extends Wanted {
  path: string
  start: FilePiece
  format: TextFormat
}

interface Outcome {
  hits: Hit[]
  /** The last line that was looked at. */
  line: number
  /** Why no line behind it was. */
  ended: "file" | "hits" | "limit"
}

async function findIn(place: Place, text: TextAt): Promise<Outcome> {
  const {
    pattern,
    flags = "",
    from_line: fromLine = 1,
    max_hits: maxHits = FIND_LIMITS.hits,
  } = text
  const { line, piece, offset } = await firstPiece(place, text)
  const encoding = text.format.encoding.name
  const search = await place.scanner.search({
    ...{ pattern, flags, encoding, fromLine, maxHits, startLine: line },
  })
  try {
    return await feed(search, { ...place, path: text.path, maxHits }, { offset, piece })
  } finally {
    search.end()
  }
}

/** Where the search begins: lines that do not count are not read where the machine finds their end. */
async function firstPiece(
  { hands }: Place,
  { path, start, format, from_line: from = 1 }: TextAt,
): Promise<{ offset: number; line: number; piece: FilePiece }> {
  const complete = start.bytes.length >= start.total
  if (from === 1 || complete || !hands.lines || !format.encoding.bytewise) {
    return { offset: 0, line: 1, piece: start }
  }
  const { start: offset, total } = await hands.lines(path, { from, count: 1 })
  const piece = await hands.read(path, { offset, size: FIND_LIMITS.firstBytes })
  return { offset, line: Math.min(from, total + 1), piece }
}

async function feed(
  search: Search,
  { hands, path, signal, maxHits }: Place & { path: string; maxHits: number },
  first: { offset: number; piece: FilePiece },
): Promise<Outcome> {
  const hits: Hit[] = []
  const limit = hands.searchBytesMax ?? Number.POSITIVE_INFINITY
  let { offset, piece } = first
  for (let size: number = FIND_LIMITS.firstBytes; ; ) {
    offset += piece.bytes.length
    const isLast = offset >= piece.total || piece.bytes.length === 0
    const isLimit = !isLast && offset >= limit
    const found = await search.feed(piece.bytes, isLast || isLimit)
    hits.push(...found.hits)
    if (hits.length >= maxHits) return { hits, line: hits.at(-1)!.line, ended: "hits" }
    if (isLast) return { hits, line: found.line, ended: "file" }
    // Its last line is there in part, so it belongs to what was not looked at.
    if (isLimit) return { hits, line: found.line, ended: "limit" }
    signal.throwIfAborted()
    size = Math.min(size * 2, FIND_LIMITS.pieceBytesMax, limit - offset)
    piece = await hands.read(path, { offset, size })
  }
}

interface Told extends Wanted {
  path: string
  format: TextFormat
  hands: Hands
  maxChars: number
}

/** Room for the head. */
const HEAD_CHARS = 300

function answer(outcome: Outcome, told: Told): ToolAnswer {
  const { hands, path, format, from_line: from = 1, maxChars } = told
  const { hits, ended, line } = outcome
  const about = `${hands.name}:${path}${formatNote(format)}`
  const limit = ended === "limit" ? `; only the first ${hands.searchBytesMax! / 2 ** 20} MiB` : ""
  if (hits.length === 0) {
    const where = line < from ? `The file ends before line ${from}.` : "No line matches."
    return {
      output: `[0 hits in ${span(from, line)}${limit}] ${about}\n${where}`,
      uneventful: true,
    }
  }
  const shown: string[] = []
  let left = maxChars - HEAD_CHARS - about.length
  for (const hit of hits) {
    const numbered = `${hit.line}\t${hit.text}`
    if (shown.length > 0 && numbered.length + 1 > left) break
    left -= numbered.length + 1
    shown.push(numbered)
  }
  const isCut = shown.length < hits.length
  const last = isCut || ended === "hits" ? hits[shown.length - 1]!.line : line
  const on = isCut || ended === "hits" ? ` — search on with from_line ${last + 1}` : limit
  const count = `${shown.length} hit${shown.length === 1 ? "" : "s"}`
  return { output: `[${count} in ${span(from, last)}${on}] ${about}\n${shown.join("\n")}` }
}

const span = (from: number, to: number): string => (to < from ? "no lines" : `lines ${from}-${to}`)
