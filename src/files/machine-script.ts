/** Scripts for the `sh` of an ssh host: how they name files, what they check first, how they fail. */
import { shellWord } from "../lib/shell-word.ts"
import type { Machine } from "../tools/machine.ts"
import type { ProcessResult } from "../tools/process.ts"
import { ToolFailure } from "../tools/tool.ts"

export interface ScriptPlace {
  machine: Machine
  /** Of the call: a cancelled turn ends its scripts. */
  signal: AbortSignal
}

const TIMEOUT_MS = 120_000

/** Exit codes of `fileChecks`, beside those of the programs in a script. */
export const CHECKED = { absent: 40, folder: 41, special: 42, denied: 43 } as const
/** The first exit code that a script may give a meaning of its own. */
export const OWN_CODES = 44

/** Names the file `$f`, and ends the script unless it is a regular one. */
export const fileChecks = (path: string): string =>
  [
    `f=${pathWord(path)}`,
    `if [ -d "$f" ]; then exit ${CHECKED.folder}; fi`,
    `if [ ! -e "$f" ]; then exit ${CHECKED.absent}; fi`,
    `if [ ! -f "$f" ]; then exit ${CHECKED.special}; fi`,
    `if [ ! -r "$f" ]; then exit ${CHECKED.denied}; fi`,
  ].join("\n")

export const runScript = (
  { machine, signal }: ScriptPlace,
  script: { command: string; keptBytes: number; input?: Uint8Array },
): Promise<ProcessResult> => {
  const { command, input } = script
  const keptBytes = Math.ceil(script.keptBytes)
  return machine.run({ command, signal, timeoutMs: TIMEOUT_MS, keptBytes, ...(input && { input }) })
}

/** Why a script failed, in the words of its programs where nothing better is known. */
export function scriptFailure({ machine }: ScriptPlace, result: ProcessResult): ToolFailure {
  if (result.ended === "timeout") return new ToolFailure(`${machine.name} did not answer in time`)
  if (result.ended === "cancelled") return new ToolFailure("the turn was cancelled")
  const words = result.stderr.text().trim()
  return new ToolFailure(words || `${machine.name} failed without saying why`)
}

/** A path as one word. A leading ~ is the home, where scripts begin. */
export const pathWord = (path: string): string =>
  shellWord(path === "~" ? "." : path.replace(/^~\//, "./"))
