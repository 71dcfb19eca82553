/** Commands that are waited for: one, or a batch that stops at the first failure. */
import { cutMiddle } from "../lib/text.ts"
import type { KeptOutput } from "../tools/kept-output.ts"
import type { Machine } from "../tools/machine.ts"
import type { ProcessResult } from "../tools/process.ts"
import { sections } from "../tools/sections.ts"
import { ToolFailure } from "../tools/tool.ts"
import { createNewest } from "./newest.ts"

export interface OneShot {
  commands: readonly string[]
  cwd: string | undefined
  /** For each command. */
  timeoutMs: number
  signal: AbortSignal
  onTail(output: string): void
  /** Characters of one command's output. */
  outputCap: number | undefined
}

/** Bytes kept of each stream, head and tail: what one result can hold, with a little room for its marks. */
const KEPT_BYTES = 1_000_000
const EMPTY = "[empty]"

/** What was printed. Throws ToolFailure with it, and with how it ended, when a command fails. */
export async function runOneShot(machine: Machine, request: OneShot): Promise<string> {
  const { commands } = request
  const done: { title: string; content: string }[] = []
  for (const [index, command] of commands.entries()) {
    const result = await runOne(machine, command, request)
    const output = textOf(result, request.outputCap)
    const failure = failureOf(result, request.timeoutMs)
    const content = [output || (failure === undefined ? EMPTY : ""), failure && `[${failure}]`]
    done.push({ title: `$ ${command}`, content: content.filter(Boolean).join("\n") })
    if (failure === undefined) continue
    const untried = commands.slice(index + 1).map((next) => `- ${next}`)
    const said = commands.length === 1 ? done[0]!.content : sections(done)
    throw new ToolFailure(untried.length > 0 ? `${said}\n\nNot run:\n${untried.join("\n")}` : said)
  }
  return commands.length === 1 ? done[0]!.content : sections(done)
}

function runOne(machine: Machine, command: string, request: OneShot): Promise<ProcessResult> {
  const { cwd, timeoutMs, signal, onTail } = request
  const newest = createNewest()
  return machine.run({
    ...{ command, timeoutMs, signal, keptBytes: KEPT_BYTES },
    ...(cwd !== undefined && { cwd }),
    onOutput: (chunk) => onTail(newest(chunk)),
  })
}

/** Both streams; where both hold something, each under its name. */
function textOf({ stdout, stderr }: ProcessResult, cap: number | undefined): string {
  const [out, err] = [streamText(stdout), streamText(stderr)]
  const whole = out !== "" && err !== "" ? `${out}\n== stderr\n${err}` : out + err
  return cap === undefined ? whole : cutMiddle(whole, cap)
}

function streamText(output: KeptOutput): string {
  if (output.isBinary()) return `[binary output: ${output.totalBytes} bytes, not shown]`
  return output.text().replace(/\r?\n$/, "")
}

function failureOf(result: ProcessResult, timeoutMs: number): string | undefined {
  if (result.ended === "timeout") {
    return `stopped after ${timeoutMs / 1000} s with all that it had started; give timeout_s, or yield_ms to let it run on`
  }
  if (result.ended === "cancelled") return "stopped: the turn was cancelled"
  if (result.exitCode === 0) return undefined
  return result.exitCode === null ? `ended by ${result.signalCode}` : `exit code ${result.exitCode}`
}
