/** The tool `find_hex`: places of bytes in files, given as hex or as a text in some encoding. */
import { type Static, Type } from "@sinclair/typebox"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import { eachPath, Paths } from "./each-path.ts"
import { encodingNamed, UTF_8 } from "./encodings.ts"
import { findInPieces } from "./find-in-pieces.ts"
import type { BytesWanted, FoundBytes, Hands } from "./hands.ts"
import { bytesOfHex } from "./hex.ts"
import { readFailure } from "./read-failure.ts"
import { encodeExactly } from "./text-file.ts"
import { type HandsOf, On } from "./which-hands.ts"

const FIND_LIMITS = { hits: 50, hitsMax: 500, patternChars: 4096, chars: 16_000 } as const

const Pattern = Type.Optional(Type.String({ minLength: 1, maxLength: FIND_LIMITS.patternChars }))

const Input = Type.Object(
  {
    path: Paths,
    hex: Pattern,
    text: Pattern,
    encoding: Type.Optional(Type.String({ description: "Of text; utf-8 when absent" })),
    offset: Type.Optional(Type.Integer({ minimum: 0 })),
    max_hits: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: FIND_LIMITS.hitsMax,
        description: `${FIND_LIMITS.hits} when absent`,
      }),
    ),
    on: On,
  },
  { additionalProperties: false },
)
type Input = Static<typeof Input>

export const findHexTool = (handsOf: HandsOf): Tool => ({
  name: "find_hex",
  group: "client",
  icon: "🔎",
  brief: "{path}",
  description:
    "Finds bytes in files, given as hex or as text in an encoding, and tells their offsets; path may be a list.",
  input: Input,
  gates: ["master_only", "not_public"],
  traits: { concurrent: true },
  run: async (context, input) => {
    const { path, on, ...wanted } = input as Input
    const hands = handsOf(context, on)
    const bytes = await patternOf(wanted)
    const { offset = 0, max_hits: limit = FIND_LIMITS.hits } = wanted
    const search: BytesWanted = { bytes, offset, limit, signal: context.signal }
    let isEmpty = true
    const output = await eachPath(path, FIND_LIMITS.chars, async (one) => {
      const found = await find(hands, hands.resolve(one), search)
      isEmpty &&= found.offsets.length === 0
      return told(found, search, `${hands.name}:${hands.resolve(one)}`)
    })
    return { output, uneventful: isEmpty && typeof path === "string" }
  },
})

async function patternOf({ hex, text, encoding: named }: Partial<Input>): Promise<Uint8Array> {
  if ((hex === undefined) === (text === undefined)) {
    throw new ToolFailure("pass hex, or text with its encoding: one of the two")
  }
  try {
    if (hex !== undefined) return nonEmpty(bytesOfHex(hex))
    const encoding = named === undefined ? UTF_8 : await encodingNamed(named)
    if (!encoding) throw new Error(`there is no encoding ${named}; say cp932, utf-16le …`)
    return encodeExactly(text!, encoding)
  } catch (error) {
    throw new ToolFailure(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function nonEmpty(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) throw new Error("there are no bytes to look for")
  return bytes
}

async function find(hands: Hands, path: string, wanted: BytesWanted): Promise<FoundBytes> {
  try {
    return hands.find
      ? await hands.find(path, wanted)
      : await findInPieces(hands.read, path, { ...wanted, end: Number.POSITIVE_INFINITY })
  } catch (error) {
    throw await readFailure(hands, path, error)
  }
}

function told(
  { total, offsets }: FoundBytes,
  { offset, limit }: BytesWanted,
  about: string,
): string {
  const count = offsets.length === 1 ? "1 hit" : `${offsets.length} hits`
  const isFull = offsets.length >= limit
  const on = isFull ? ` — search on with offset ${offsets.at(-1)! + 1}` : ""
  const to = isFull ? offsets.at(-1)! : Math.max(offset, total - 1)
  const head = `[${count} in bytes ${offset}-${to} of ${total}${on}] ${about}`
  return [head, ...offsets.map((place) => `${place}\t0x${place.toString(16)}`)].join("\n")
}
