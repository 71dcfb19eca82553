/**
 * A program as a tool: the input as JSON on its standard input, its standard output as the result. Anything
 * but exit code 0 is an error that the model reads, with what was printed.
 */
import { resolve } from "node:path"
import { childEnvironment, type Environment } from "../lib/environment.ts"
import { cutMiddle } from "../lib/text.ts"
import type { KeptOutput } from "../tools/kept-output.ts"
import { PROCESS_LIMITS, type ProcessResult, runProcess } from "../tools/process.ts"
import { GROUP_LIMITS } from "../tools/process-group.ts"
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts"
import { ACCESS_GATES, type Declaration } from "./declaration.ts"

/** Characters of each stream in the text of an error. */
const ERROR_CHARS = 4000

/** What the kernel waits past the program's own limit: the group has to end, the pipes to drain. */
const OVERTIME_MS = 2 * (GROUP_LIMITS.graceMs + PROCESS_LIMITS.drainMs)

export interface Surroundings {
  /** The folder of the declaration: where the program runs and relative programs are. */
  dir: string
  environment: Environment
}

export function externalTool(declaration: Declaration, { dir, environment }: Surroundings): Tool {
  const { name, timeoutMs } = declaration
  const command = commandOf(declaration, dir)
  return {
    name,
    group: declaration.group ?? "ext",
    icon: declaration.icon,
    brief: declaration.brief,
    description: declaration.description,
    input: declaration.input_schema,
    gates: ACCESS_GATES[declaration.access ?? "master"],
    // On cancel the program is ended with its whole group, and the turn sees that through.
    traits: { quiet: declaration.quiet, waitsOnCancel: true },
    timeoutMs: timeoutMs + OVERTIME_MS,
    run: async (context, input) => {
      const result = await runProcess({
        command,
        cwd: dir,
        environment: childEnvironment(environment, callEnvironment(context)),
        input: JSON.stringify(input),
        timeoutMs,
        signal: context.signal,
      })
      const problem = problemOf(result, timeoutMs)
      if (problem !== undefined) throw new ToolFailure(report(`${name} ${problem}`, result))
      return { output: textOf(result.stdout) }
    },
  }
}

function commandOf({ command }: Declaration, dir: string): string[] {
  const [program = "", ...args] = command
  return [program.includes("/") ? resolve(dir, program) : program, ...args]
}

const callEnvironment = (context: ToolContext): Record<string, string> => ({
  EVA_CHAT_ID: context.chatId,
  EVA_TURN_ID: context.turnId,
  EVA_CALL_ID: context.callId,
  EVA_MASTER: context.identity.master ? "1" : "0",
})

function problemOf(result: ProcessResult, timeoutMs: number): string | undefined {
  if (result.ended === "timeout") return `was stopped after its limit of ${timeoutMs / 1000} s`
  if (result.ended === "cancelled") return "was stopped by the cancel of the turn"
  if (result.signalCode !== null) return `was ended by ${result.signalCode}`
  return result.exitCode === 0 ? undefined : `exited with code ${result.exitCode}`
}

function report(problem: string, { stdout, stderr }: ProcessResult): string {
  const sections = [section("stderr", stderr), section("stdout", stdout)].filter(Boolean)
  return sections.length > 0 ? [problem, ...sections].join("\n") : `${problem} and printed nothing`
}

function section(title: string, output: KeptOutput): string {
  const text = textOf(output).trim()
  return text && `== ${title}\n${cutMiddle(text, ERROR_CHARS)}`
}

function textOf(output: KeptOutput): string {
  if (output.isBinary()) return `[binary output: ${output.totalBytes} bytes, not shown]`
  return output.text().replace(/\r?\n$/, "")
}
