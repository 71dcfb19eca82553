/** The tool `write_file`: whole texts, one file or several, each at one stroke. */
import { type Static, Type } from "@sinclair/typebox"
import { errorText } from "../lib/error.ts"
import { sha256 } from "../lib/sha256.ts"
import { OP_TIMEOUT_MS } from "../schema/client-op.ts"
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts"
import { refuseOutside } from "./absolute-path.ts"
import type { BeforeWrite } from "./checkpoints.ts"
import { Path } from "./each-path.ts"
import { UTF_8 } from "./encodings.ts"
import { formerFile } from "./former-file.ts"
import type { Hands } from "./hands.ts"
import { inOrder } from "./in-order.ts"
import type { DiskFile } from "./local-disk.ts"
import { refuseUnseen, type SeenFiles } from "./seen-files.ts"
import { formatOf, NotText, readText, type TextFormat, writeText } from "./text-file.ts"
import { type HandsOf, On } from "./which-hands.ts"

export interface WritingParts {
  handsOf: HandsOf
  beforeWrite: BeforeWrite
  seen: SeenFiles
}

const FILES_MAX = 20
/** A user may be asked about every file. */
export const WRITING_TIMEOUT_MS = FILES_MAX * OP_TIMEOUT_MS

const Content = Type.String({ description: "The whole new text" })

const Input = Type.Object(
  {
    path: Type.Optional(Path),
    content: Type.Optional(Content),
    files: Type.Optional(
      Type.Array(Type.Object({ path: Path, content: Content }, { additionalProperties: false }), {
        minItems: 1,
        maxItems: FILES_MAX,
        description: "Several files, in place of path and content",
      }),
    ),
    encoding: Type.Optional(
      Type.String({ description: "The file's own when absent, utf-8 for a new one" }),
    ),
    on: On,
  },
  { additionalProperties: false },
)
type Input = Static<typeof Input>

interface NewText {
  path: string
  content: string
}

export const writeFileTool = (parts: WritingParts): Tool => ({
  name: "write_file",
  group: "client",
  icon: "✏️",
  brief: "{path}",
  description:
    "Writes whole text files and the folders above them. A file that is there must have been read in this chat, and be as it was read. Small changes are for write_diff, several for apply_patch.",
  input: Input,
  gates: ["master_only", "not_public"],
  // A result tells what landed, also to a turn that is being cancelled.
  traits: { waitsOnCancel: true },
  timeoutMs: WRITING_TIMEOUT_MS,
  run: async (context, input) => {
    const { on, encoding, ...said } = input as Input
    const hands = parts.handsOf(context, on)
    const landed = await inOrder(textsOf(said), {
      nameOf: ({ path }) => path,
      write: (text) => writeNamed({ ...parts, context, hands, encoding }, text),
      signal: context.signal,
    })
    return { output: `Done on ${hands.name}:\n${landed}` }
  },
})

function textsOf({ path, content, files }: Pick<Input, "path" | "content" | "files">): NewText[] {
  const isOne = path !== undefined && content !== undefined
  if (files && path === undefined && content === undefined) return files
  if (!files && isOne) return [{ path, content }]
  throw new ToolFailure("write_file takes path and content, or files with a path and content each")
}

interface Writing extends Omit<WritingParts, "handsOf"> {
  context: Pick<ToolContext, "chatId" | "turnId">
  hands: Hands
  encoding: string | undefined
}

/** @throws ToolFailure that names machine and file */
async function writeNamed(writing: Writing, text: NewText): Promise<string> {
  try {
    return await writeOne(writing, text)
  } catch (error) {
    const { hands } = writing
    throw new ToolFailure(`${hands.name}:${hands.resolve(text.path)}: ${errorText(error)}`)
  }
}

/** What landed: `A` for a new file, `M` for one that was there, `=` for one that held this already. */
async function writeOne(writing: Writing, { path: named, content }: NewText): Promise<string> {
  const { hands, context, seen, beforeWrite, encoding } = writing
  refuseOutside(named)
  const path = hands.resolve(named)
  const { chatId, turnId } = context
  const former = await formerFile(hands.whole, path)
  const next = await bytesOf(content, former, encoding)
  if (former) {
    if (Buffer.from(former.bytes).equals(next.bytes)) return `= ${named} (it held this already)`
    await refuseUnseen(seen, { chatId, hands, path, now: former.bytes })
  }
  await beforeWrite({
    ...{ chatId, writerId: turnId, machine: hands.name, path, former: former?.bytes },
    ...(former?.mode !== undefined && { formerMode: former.mode }),
    next: next.bytes,
  })
  const expectSha256 = former ? sha256(former.bytes) : null
  await hands.whole.write(path, next.bytes, { expectSha256 })
  seen.saw({ chatId, machine: hands.name, path }, { sha256: sha256(next.bytes) })
  return `${former ? "M" : "A"} ${named} (${next.about.join(", ")})`
}

interface NewBytes {
  bytes: Uint8Array
  about: string[]
}

/** In the encoding, with the mark and the line ends that the file has. */
async function bytesOf(
  content: string,
  former: DiskFile | undefined,
  encoding: string | undefined,
): Promise<NewBytes> {
  const kept = former && former.bytes.length > 0 ? await keptFormat(former.bytes) : PLAIN
  const format = encoding === undefined ? kept : await namedFormat(encoding, kept)
  const crlf = kept.eol === "\r\n" && !content.includes("\r\n")
  const text = crlf ? content.replaceAll("\n", "\r\n") : content
  const marked = format.bom && text.startsWith("\ufeff") ? text.slice(1) : text
  const ends = content.split("\n").length - 1
  const count = ends + (content === "" || content.endsWith("\n") ? 0 : 1)
  return {
    bytes: writeText(marked, format),
    about: [
      `${count} line${count === 1 ? "" : "s"}`,
      ...(format.encoding.name === "utf-8" && !format.bom
        ? []
        : [format.encoding.name + (format.bom ? " with BOM" : "")]),
      ...(crlf ? ["CRLF as before"] : []),
    ],
  }
}

type Kept = Pick<TextFormat, "encoding" | "bom"> & { eol: "\n" | "\r\n" }
const PLAIN: Kept = { encoding: UTF_8, bom: false, eol: "\n" }

async function keptFormat(bytes: Uint8Array): Promise<Kept> {
  try {
    return await readText(bytes)
  } catch (error) {
    if (!(error instanceof NotText)) throw error
    throw new ToolFailure("what stands there is no text; remove it first, or write another file")
  }
}

async function namedFormat(name: string, kept: Kept): Promise<Kept> {
  const { encoding } = await formatOf(new Uint8Array(), { named: name, complete: true })
  return { ...kept, encoding, bom: kept.bom && encoding === kept.encoding }
}
