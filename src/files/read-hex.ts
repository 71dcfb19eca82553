/** The tool `read_hex`: bytes of a file as a dump. */
import { type Static, Type } from "@sinclair/typebox"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import { eachPath, Paths } from "./each-path.ts"
import { encodingNamed } from "./encodings.ts"
import type { Hands } from "./hands.ts"
import { dumpRows } from "./hex.ts"
import { readFailure } from "./read-failure.ts"
import { type HandsOf, On } from "./which-hands.ts"

const DUMP_LIMITS = { bytes: 1024, bytesMax: 8192, chars: 16_000 } as const

export interface ReadHexParts {
  handsOf: HandsOf
  /** Characters of an answer that stay in the prompt. */
  readerChars: number
}

const Input = Type.Object(
  {
    path: Paths,
    offset: Type.Optional(Type.Integer({ minimum: 0, description: "First byte, from 0" })),
    size: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: DUMP_LIMITS.bytesMax,
        description: `${DUMP_LIMITS.bytes} when absent`,
      }),
    ),
    encoding: Type.Optional(
      Type.String({
        description: "Of the text column, such as cp932, utf-16le; ASCII when absent",
      }),
    ),
    on: On,
  },
  { additionalProperties: false },
)
type Input = Static<typeof Input>

export const readHexTool = (parts: ReadHexParts): Tool => ({
  name: "read_hex",
  group: "client",
  icon: "🔬",
  brief: "{path}",
  description:
    "Shows bytes of files as a hex dump headed [bytes A-B of N] with a text column; path may be a list.",
  input: Input,
  gates: ["master_only", "not_public"],
  traits: { windowed: true, concurrent: true },
  run: async (context, input) => {
    const { path, on, ...window } = input as Input
    const hands = parts.handsOf(context, on)
    const maxChars = Math.min(DUMP_LIMITS.chars, parts.readerChars)
    return {
      output: await eachPath(path, maxChars, (one, chars) =>
        dump(hands, { ...window, path: one, maxChars: chars }),
      ),
    }
  },
})

interface Wanted extends Omit<Input, "path" | "on"> {
  path: string
  maxChars: number
}

async function dump(hands: Hands, wanted: Wanted): Promise<string> {
  const { offset = 0, size = DUMP_LIMITS.bytes, encoding: named, maxChars } = wanted
  const encoding = named === undefined ? undefined : await encodingNamed(named)
  if (named !== undefined && !encoding) {
    throw new ToolFailure(`there is no encoding ${named}; say cp932, utf-16le …`)
  }
  const path = hands.resolve(wanted.path)
  const { total, bytes, isText } = await hands.read(path, { offset, size }).catch(async (error) => {
    throw await readFailure(hands, path, error)
  })
  if (isText) throw new ToolFailure("this client reads texts only and does not know their bytes")
  const about = `${hands.name}:${path}`
  if (bytes.length === 0) {
    const why = total === 0 ? "The file is empty." : `The file ends before byte ${offset}.`
    return `[no bytes of ${total}] ${about}\n${why}`
  }
  const lines: string[] = []
  let [end, left] = [offset, maxChars - about.length - HEAD_CHARS]
  for (const row of dumpRows(bytes, { offset, decoder: encoding?.decoder() })) {
    if (lines.length > 0 && row.text.length + 1 > left) break
    left -= row.text.length + 1
    end += row.bytes
    lines.push(row.text)
  }
  const more = end < total ? ` — read on with offset ${end}` : ""
  return `[bytes ${offset}-${end - 1} of ${total}${more}] ${about}\n${lines.join("\n")}`
}

const HEAD_CHARS = 100
