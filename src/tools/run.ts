/**
 * The sole caller of `tool.run`, and the only place that catches what a tool throws. Whatever happens, a
 * call gets exactly one result, in bounded time.
 */
import { deferred } from "../lib/async.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { MACHINE_TEXT } from "../schema/machine-text.ts"
import type { ToolUseBlock } from "../schema/message.ts"
import { type CheckedArguments, checkArguments } from "./arguments.ts"
import { type Redact, storable } from "./output.ts"
import { createProgress } from "./progress.ts"
import type { StepSnapshot } from "./snapshot.ts"
import { type Tool, type ToolAnswer, type ToolContext, ToolFailure } from "./tool.ts"

/** For tools that state no limit of their own, milliseconds. */
export const TOOL_TIMEOUT_MS = 600_000

export interface CallResult {
  output: string
  isError: boolean
  /** The turn must end once every pair is closed. */
  fatal?: true
  /** Nothing happened: dropped from context first. */
  uneventful?: true
  /** Tools that come into sight for the rest of the turn. */
  offers?: readonly string[]
  /** The tool closes the turn, and it succeeded. */
  endsTurn?: true
  /** Nobody waited for the tool, since the turn was cancelled. */
  cancelled?: true
}

export interface CallRequest {
  snapshot: StepSnapshot
  call: ToolUseBlock
  context: Omit<ToolContext, "callId" | "progress">
  onProgress(output: string): void
  redact: Redact
}

/** Runs one call by the snapshot that offered its tool. Never throws. */
export async function runCall(request: CallRequest): Promise<CallResult> {
  const { snapshot, call, context, redact } = request
  const resolved = snapshot.resolve(call.name)
  if ("refusal" in resolved) return failed(resolved.refusal, redact)
  const checked = await check(resolved.tool, request)
  if ("refusal" in checked) return failed(checked.refusal, redact)
  if (context.signal.aborted) return { ...CANCELLED }
  return execute(resolved.tool, checked.input, request)
}

const CANCELLED: CallResult = {
  output: MACHINE_TEXT.call_cancelled.marker,
  isError: true,
  cancelled: true,
}

/** A schema that cannot be used must not cost the tool: it then checks its input itself. */
async function check(tool: Tool, { call, context }: CallRequest): Promise<CheckedArguments> {
  try {
    return await checkArguments(call, tool.input)
  } catch (error) {
    context.log.warn("a tool's input schema cannot be used; its arguments went unchecked", {
      tool: tool.name,
      error: errorText(error),
    })
    return { input: call.input }
  }
}

type Ending =
  | { kind: "answer"; answer: ToolAnswer }
  | { kind: "threw"; error: unknown }
  | { kind: "timeout" }
  | { kind: "cancelled" }

async function execute(tool: Tool, input: unknown, request: CallRequest): Promise<CallResult> {
  const { call, context, redact } = request
  const timeoutMs = tool.timeoutMs ?? TOOL_TIMEOUT_MS
  const limit = new AbortController()
  const progress = createProgress({ emit: request.onProgress, redact })
  const toolContext: ToolContext = {
    ...context,
    callId: call.id,
    signal: AbortSignal.any([context.signal, limit.signal]),
    progress: progress.push,
  }
  const interrupted = deferred<Ending>()
  const timer = setTimeout(() => interrupted.resolve({ kind: "timeout" }), timeoutMs)
  // A step of the event loop later, so that a result of this very moment still wins.
  const onCancel = () => setImmediate(() => interrupted.resolve({ kind: "cancelled" }))
  if (!tool.traits.waitsOnCancel) context.signal.addEventListener("abort", onCancel)

  const ending = await Promise.race([settled(tool, toolContext, input), interrupted.promise])

  clearTimeout(timer)
  context.signal.removeEventListener("abort", onCancel)
  progress.close()
  if (ending.kind === "timeout") limit.abort(new Error("the tool's time is over"))
  return resultOf(ending, tool, { context, redact, timeoutMs })
}

async function settled(tool: Tool, context: ToolContext, input: unknown): Promise<Ending> {
  try {
    const answer = await tool.run(context, input)
    if (typeof answer?.output !== "string") throw new Error(`${tool.name} answered without a text`)
    return { kind: "answer", answer }
  } catch (error) {
    return { kind: "threw", error }
  }
}

interface ResultNeeds extends Pick<CallRequest, "context" | "redact"> {
  timeoutMs: number
}

function resultOf(ending: Ending, tool: Tool, needs: ResultNeeds): CallResult {
  const { context, redact, timeoutMs } = needs
  switch (ending.kind) {
    case "answer":
      return {
        output: storable(ending.answer.output, redact),
        isError: false,
        ...(ending.answer.uneventful && { uneventful: true }),
        ...(ending.answer.offers && { offers: ending.answer.offers }),
        ...(tool.traits.endsTurn && { endsTurn: true }),
      }
    case "threw":
      return thrown(ending.error, tool, needs)
    case "timeout":
      context.log.warn("tool stopped: its time is over", { tool: tool.name, timeout_ms: timeoutMs })
      return failed(
        `${tool.name} did not finish within ${timeoutMs / 1000} s and was stopped.`,
        redact,
      )
    case "cancelled":
      return { ...CANCELLED }
  }
}

function thrown(error: unknown, tool: Tool, { context, redact }: ResultNeeds): CallResult {
  const fatal = error instanceof ToolFailure && error.scope === "turn"
  if (!(error instanceof ToolFailure || error instanceof KernelError)) {
    context.log.error("tool threw", {
      tool: tool.name,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
  }
  const text = errorText(error) || `${tool.name} failed without saying why.`
  return { ...failed(text, redact), ...(fatal && { fatal: true }) }
}

const failed = (text: string, redact: Redact): CallResult => ({
  output: storable(text, redact),
  isError: true,
})
