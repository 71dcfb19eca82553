/** The tool `write_diff`: one place of one file, found by its text. */
import { type Static, Type } from "@sinclair/typebox"
import { sha256 } from "../lib/sha256.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import { refuseOutside } from "./absolute-path.ts"
import { formerFile } from "./former-file.ts"
import { FileProblem, type Hands } from "./hands.ts"
import { misfit } from "./misfit.ts"
import { readFailure } from "./read-failure.ts"
import { type Replaced, replaceText } from "./replace-text.ts"
import { losslessText, writeText } from "./text-file.ts"
import { On } from "./which-hands.ts"
import type { WritingParts } from "./write-file.ts"

/** Numbered lines around the change, before it and behind it. */
const CONTEXT_LINES = 3
/** Of a longer change its first and last lines are shown. */
const CHANGE_LINES_MAX = 20

const Input = Type.Object(
  {
    path: Type.String({ minLength: 1 }),
    old_text: Type.String({
      minLength: 1,
      description: "As it stands in the file, and long enough to stand there once",
    }),
    new_text: Type.String(),
    on: On,
  },
  { additionalProperties: false },
)

export const writeDiffTool = (parts: WritingParts): Tool => ({
  name: "write_diff",
  group: "client",
  icon: "✂️",
  brief: "{path}",
  description:
    "Replaces one place of a text file and answers with its lines as they are now. Several changes are for apply_patch.",
  input: Input,
  gates: ["master_only", "not_public"],
  traits: { waitsOnCancel: true },
  run: async (context, input) => {
    const { path: named, old_text, new_text, on } = input as Static<typeof Input>
    const hands = parts.handsOf(context, on)
    if (old_text === new_text) throw new ToolFailure("old_text and new_text are the same")
    refuseOutside(named)
    const path = hands.resolve(named)
    const former = await read(hands, path)
    const { text, ...format } = await losslessText(former.bytes)
    const replaced = replaceText(text, { old: old_text, new: new_text }, format.eol)
    if ("at" in replaced)
      throw misfit(`${hands.name}:${path}`, text, { old: old_text, ...replaced })

    const next = writeText(replaced.text, format)
    const { chatId, turnId } = context
    await parts.beforeWrite({
      ...{ chatId, writerId: turnId, machine: hands.name, path, former: former.bytes, next },
      ...(former.mode !== undefined && { formerMode: former.mode }),
    })
    await hands.whole.write(path, next, { expectSha256: sha256(former.bytes) })
    parts.seen.changed({ chatId, machine: hands.name, path }, former.bytes, next)
    return { output: told(`${hands.name}:${path}`, replaced) }
  },
})

async function read(hands: Hands, path: string) {
  try {
    const former = await formerFile(hands.whole, path)
    if (former) return former
    // The machine says what stands there instead, or the client does.
    await hands.read(path, { offset: 0, size: 1 })
    throw new FileProblem("absent")
  } catch (error) {
    throw await readFailure(hands, path, error)
  }
}

function told(where: string, { text, line, lines, plainly }: Replaced): string {
  const all = text.split("\n")
  if (all.at(-1) === "") all.pop()
  const first = Math.max(1, line - CONTEXT_LINES)
  const last = Math.min(all.length, line + lines - 1 + CONTEXT_LINES)
  const numbered = (from: number, to: number): string[] =>
    all.slice(from - 1, to).map((one, at) => `${from + at}\t${one.replace(/\r$/, "")}`)
  const half = CHANGE_LINES_MAX / 2 + CONTEXT_LINES
  const shown =
    last - first + 1 > 2 * half
      ? [...numbered(first, first + half - 1), "…", ...numbered(last - half + 1, last)]
      : numbered(first, last)
  const note = plainly ? " (found with quotation marks, dashes and spaces written plainly)" : ""
  return [`[lines ${first}-${last} of ${all.length}] ${where}${note}`, ...shown].join("\n")
}
