/** The tool `write_hex`: bytes into files, over those that stand there. */
import { type Static, Type } from "@sinclair/typebox"
import { sha256 } from "../lib/sha256.ts"
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts"
import type { BeforeWrite } from "./checkpoints.ts"
import { Path } from "./each-path.ts"
import { FileProblem, type Hands } from "./hands.ts"
import { bytesOfHex } from "./hex.ts"
import { inOrder } from "./in-order.ts"
import type { DiskFile } from "./local-disk.ts"
import { readFailure } from "./read-failure.ts"
import { type HandsOf, On } from "./which-hands.ts"

/** A larger file could be written in place only, and a broken write could not be taken back. */
const FILE_BYTES_MAX = 32 * 1024 * 1024
const WRITES_MAX = 50

export interface WriteHexParts {
  handsOf: HandsOf
  beforeWrite: BeforeWrite
}

const FIELDS = {
  path: Path,
  offset: Type.Integer({ minimum: 0 }),
  data: Type.String({ description: "Hex, such as 48 65 6c" }),
  truncate: Type.Optional(Type.Boolean({ description: "The file ends behind these bytes" })),
}
const Write = Type.Object(FIELDS, { additionalProperties: false })
type Write = Static<typeof Write>

const Input = Type.Object(
  {
    ...Type.Partial(Type.Object(FIELDS)).properties,
    writes: Type.Optional(
      Type.Array(Write, {
        minItems: 1,
        maxItems: WRITES_MAX,
        description: "Several, in order, in place of the fields above",
      }),
    ),
    on: On,
  },
  { additionalProperties: false },
)
type Input = Static<typeof Input>

export const writeHexTool = (parts: WriteHexParts): Tool => ({
  name: "write_hex",
  group: "client",
  icon: "🔧",
  brief: "{path}",
  description:
    "Writes bytes over those of a file at an offset; at its end they are added, behind it refused. offset 0 with truncate replaces the file.",
  input: Input,
  gates: ["master_only", "not_public"],
  // A result tells what landed, also to a turn that is being cancelled.
  traits: { waitsOnCancel: true },
  run: async (context, input) => {
    const { on, ...wanted } = input as Input
    const hands = parts.handsOf(context, on)
    const write = (one: Write) => writeOne({ ...parts, hands, context }, one)
    const nameOf = ({ path, offset }: Write) => `${path} at ${offset}`
    return { output: await inOrder(writesOf(wanted), { nameOf, write, signal: context.signal }) }
  },
})

function writesOf({ writes, ...one }: Omit<Input, "on">): readonly Write[] {
  const { path, offset, data, truncate } = one
  if (writes) {
    if (Object.keys(one).length === 0) return writes
  } else if (path !== undefined && offset !== undefined && data !== undefined) {
    return [{ path, offset, data, ...(truncate !== undefined && { truncate }) }]
  }
  throw new ToolFailure("pass path, offset and data, or a list of such in writes: one of the two")
}

interface Place extends WriteHexParts {
  hands: Hands
  context: ToolContext
}

async function writeOne(place: Place, write: Write): Promise<string> {
  const { hands, context, beforeWrite } = place
  const path = hands.resolve(write.path)
  const about = `${hands.name}:${path}`
  const data = dataOf(write, about)
  const former = await formerOf(hands, path)
  const old = former?.bytes ?? new Uint8Array()
  const { offset, truncate = false } = write
  if (offset > old.length) {
    throw new ToolFailure(
      `${about} has ${old.length} bytes: writing at ${offset} would leave a hole; the last offset is ${old.length}`,
    )
  }
  const rest = truncate ? new Uint8Array() : old.subarray(offset + data.length)
  const next = Buffer.concat([old.subarray(0, offset), data, rest])
  await beforeWrite({
    ...{ chatId: context.chatId, writerId: context.turnId, machine: hands.name, path },
    ...{ former: former?.bytes, next },
    ...(former?.mode !== undefined && { formerMode: former.mode }),
  })
  const expectSha256 = former === undefined ? null : sha256(former.bytes)
  const { whole } = hands
  try {
    if (whole.writeAt) await whole.writeAt(path, { offset, data, truncate }, { expectSha256 })
    else await whole.write(path, next, { expectSha256 })
  } catch (error) {
    throw await readFailure(hands, path, error)
  }
  const count = data.length === 1 ? "1 byte" : `${data.length} bytes`
  return `wrote ${count} at ${offset} of ${about}, which has ${next.length} now`
}

function dataOf({ data, truncate }: Write, about: string): Uint8Array {
  try {
    const bytes = bytesOfHex(data)
    if (bytes.length > 0 || truncate) return bytes
  } catch (error) {
    throw new ToolFailure(`${about}: ${error instanceof Error ? error.message : error}`)
  }
  throw new ToolFailure(`${about}: there are no bytes to write`)
}

/** Undefined when there is no such file. */
async function formerOf(hands: Hands, path: string): Promise<DiskFile | undefined> {
  try {
    // A client tells its size with the first piece.
    if (hands.on === "server") await refuseLarge(hands, path)
    return await hands.whole.read(path)
  } catch (error) {
    if (error instanceof FileProblem && error.kind === "absent") return undefined
    throw await readFailure(hands, path, error)
  }
}

async function refuseLarge(hands: Hands, path: string): Promise<void> {
  const { total } = await hands.read(path, { offset: 0, size: 1 })
  if (total <= FILE_BYTES_MAX) return
  throw new ToolFailure(
    `${hands.name}:${path} has ${total} bytes, and an undo of more than ${FILE_BYTES_MAX} is not kept; a program of the shell such as dd writes into it`,
  )
}
