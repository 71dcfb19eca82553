/** Commands of a client operation: run in order on this machine, up to the first that fails. */
import { runProcess } from "../../../tools/process.ts"
import { sections } from "../../../tools/sections.ts"

export interface CommandPlace {
  cwd: string
  /** The whole environment of the commands. */
  environment: Record<string, string>
  signal: AbortSignal
  onProgress(output: string): void
}

/** Of what runs so much is shown while it runs. */
const TAIL_CHARS = 8192
/** Bytes kept of each stream, head and tail. */
const KEPT_BYTES = 1024 * 1024

/** All that was printed. Rejects with it, and with how it ended, when a command fails. */
export async function runCommands(
  { command, timeout_ms }: { command: string | string[]; timeout_ms: number },
  place: CommandPlace,
): Promise<string> {
  const commands = [command].flat()
  const done: { title: string; content: string }[] = []
  for (const [index, one] of commands.entries()) {
    const { output, failure } = await runOne(one, timeout_ms, place)
    done.push({ title: `$ ${one}`, content: output })
    if (failure === undefined) continue
    const untried = commands.slice(index + 1).map((next) => `not run: ${next}`)
    const said = commands.length === 1 ? output : sections(done)
    throw new Error([said, failure, ...untried].filter((part) => part !== "").join("\n"))
  }
  return commands.length === 1 ? (done[0]?.content ?? "") : sections(done)
}

async function runOne(
  command: string,
  timeoutMs: number,
  { cwd, environment, signal, onProgress }: CommandPlace,
): Promise<{ output: string; failure: string | undefined }> {
  let tail = ""
  const decoder = new TextDecoder()
  const result = await runProcess({
    command: ["/bin/sh", "-c", command],
    ...{ cwd, environment, timeoutMs, signal, keptBytes: KEPT_BYTES },
    onOutput: (chunk) => {
      tail = (tail + decoder.decode(chunk, { stream: true })).slice(-TAIL_CHARS)
      onProgress(tail)
    },
  })
  const { ended, exitCode, signalCode, stdout, stderr } = result
  const output = [stdout.text(), stderr.text()].filter((text) => text !== "").join("\n")
  if (ended === "cancelled") return { output, failure: "stopped by the user" }
  if (ended === "timeout") return { output, failure: `stopped after ${timeoutMs / 1000} s` }
  if (exitCode === 0) return { output, failure: undefined }
  return { output, failure: exitCode === null ? `ended by ${signalCode}` : `exit code ${exitCode}` }
}
