/** The tool `apply_patch`: several edits and files in one call, all checked before the first is written. */
import { type Static, Type } from "@sinclair/typebox"
import type { WorkdirOn } from "../../schema/chat.ts"
import { type Tool, type ToolContext, ToolFailure } from "../../tools/tool.ts"
import { applyPatch, type Landed, type PatchOutcome } from "./apply.ts"
import { PatchError } from "./patch.ts"
import type { PatchFiles } from "./patch-files.ts"

/** The files of the machine that a call means, and how answers name it. */
export interface PatchMachine {
  name: string
  files: PatchFiles
}

const Input = Type.Object(
  {
    patch: Type.String({
      description:
        "*** Begin Patch … *** End Patch with sections *** Update File: (hunks of @@, context, - and + lines), *** Add File:, *** Delete File:, *** Move to:",
    }),
    on: Type.Optional(
      Type.Union([Type.Literal("client"), Type.Literal("server")], {
        description: "The machine; the working directory's by default",
      }),
    ),
  },
  { additionalProperties: false },
)

/** @param machineOf throws a ToolFailure when the turn cannot reach that machine */
export const patchTool = (
  machineOf: (context: ToolContext, on: WorkdirOn | undefined) => PatchMachine,
): Tool => ({
  name: "apply_patch",
  group: "client",
  icon: "🩹",
  description:
    "Edits several files in one call. No line numbers: a place is found by its quoted lines. All of it is checked first, so a hunk that does not fit changes nothing.",
  input: Input,
  gates: ["master_only", "not_public"],
  // A result tells what landed, also to a turn that is being cancelled.
  traits: { waitsOnCancel: true },
  run: async (context, input) => {
    const { patch, on } = input as Static<typeof Input>
    const machine = machineOf(context, on)
    const outcome = await applyOrFail(patch, machine.files, context.signal)
    const isWhole = outcome.failed.length + outcome.notTried.length === 0
    if (!isWhole) throw new ToolFailure(partly(machine.name, outcome))
    return { output: told(machine.name, outcome.landed) }
  },
})

async function applyOrFail(
  patch: string,
  files: PatchFiles,
  signal: AbortSignal,
): Promise<PatchOutcome> {
  try {
    return await applyPatch(patch, files, signal)
  } catch (error) {
    if (error instanceof PatchError) throw new ToolFailure(error.message, { cause: error })
    throw error
  }
}

const LETTERS: Record<Landed["kind"], string> = {
  added: "A",
  changed: "M",
  removed: "D",
  moved: "R",
}

const line = ({ kind, path, movedFrom, replaced }: Landed): string => {
  const names = movedFrom === undefined ? path : `${movedFrom} → ${path}`
  return `${LETTERS[kind]} ${names}${replaced ? " (replaced the file that was there)" : ""}`
}

const told = (machine: string, landed: readonly Landed[]): string =>
  [`Done on ${machine}:`, ...landed.map(line)].join("\n")

function partly(machine: string, { landed, failed, notTried }: PatchOutcome): string {
  const why = failed.length > 0 ? "some files could not be written" : "the turn was cancelled"
  return [
    `The patch was applied in part on ${machine}: ${why}.`,
    ...failed.map(({ path, reason }) => `Failed: ${path}: ${reason}`),
    landed.length > 0 ? `Landed:\n${landed.map(line).join("\n")}` : "Nothing landed.",
    ...(notTried.length > 0 ? [`Not tried: ${notTried.join(", ")}`] : []),
  ].join("\n")
}
