/**
 * A model without a model: echoes, or plays the plan that the user wrote into the message. It needs no key,
 * gives the same answer each time, and refuses every malformed request (`mock-strict.ts`).
 */
import { sleep } from "../lib/async.ts"
import { isObject, tryParseJson } from "../lib/json.ts"
import { head } from "../lib/text.ts"
import { isMachineText, MACHINE_TEXT } from "../schema/machine-text.ts"
import { emptyUsage, type Usage } from "../schema/usage.ts"
import type { Gate } from "./mock-gate.ts"
import { type PlanCall, type PlanStep, readPlan } from "./mock-plan.ts"
import { sampleOf } from "./mock-sample.ts"
import { requestFault } from "./mock-strict.ts"
import type { ModelMessage, ModelRequest, Provider, ProviderEvent } from "./provider.ts"
import { createTokenEstimator } from "./tokens.ts"

export interface MockOptions {
  /** Holds every chunk until a test lets it pass. */
  gate?: Gate
  /** Sees each request as it arrives, malformed ones too. */
  observe?: (request: ModelRequest) => void
  /** A content filter: the requests that it is true for are refused. */
  refuse?: (request: ModelRequest) => boolean
  /** Says or fails this instead of the script; undefined leaves it to the script. */
  answer?: (request: ModelRequest) => Partial<PlanStep> | undefined
}

/** An echo longer than this would make a summary as long as what it sums up. */
const ECHO_LIMIT = 4000
/** How many plans the mock remembers the consumed failures of. */
const MEMORY_LIMIT = 1000
const BYTES_PER_TOKEN = 4

export function createMock(options: MockOptions = {}): Provider {
  const tokens = createTokenEstimator()
  const script = createScript()
  let calls = 0
  /** Unique in this process and in the history at hand. */
  const newCallId = (request: ModelRequest): string => {
    const used = new Set(
      request.messages.flatMap(({ blocks }) =>
        blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])),
      ),
    )
    do calls++
    while (used.has(`call_${calls}`))
    return `call_${calls}`
  }

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ProviderEvent> {
    options.observe?.(request)
    const fault = requestFault(request)
    if (fault) {
      yield failed("fatal", `the mock refuses this request: ${fault}`)
      return
    }
    if (options.refuse?.(request)) {
      yield failed("refused", "the mock's content filter refuses this request")
      return
    }
    const given = options.answer?.(request)
    const next = given ? { ...say(""), ...given } : await script.next(request)
    const step = fitted(next, request)
    const usage = usageOf(step, tokens.request(request.model, request))
    for (const event of eventsOf(step, usage, () => newCallId(request))) {
      if (step.delayMs > 0) await sleep(step.delayMs, signal)
      await options.gate?.pass(event, signal)
      if (signal.aborted) {
        yield failed("cancelled", "cancelled")
        return
      }
      yield event
    }
  }
  return { kind: "mock", stream }
}

const failed = (kind: "fatal" | "refused" | "cancelled", message: string): ProviderEvent => ({
  type: "failed",
  failure: { class: kind, message },
})

const say = (text: string): PlanStep => ({
  think: "",
  say: text,
  calls: [],
  usage: {},
  delayMs: 0,
})

/** Which step comes next: one a trip since the plan was written, failures included. */
function createScript() {
  const consumedFailures = new Map<string, number>()

  const next = async (request: ModelRequest): Promise<PlanStep> => {
    const speech = newestSpeech(request.messages)
    if (!speech) return say("ok")
    const echo = say(head(speech.text, ECHO_LIMIT))
    const plan = await readPlan(speech.text)
    if (!plan) return echo
    if ("error" in plan) return say(plan.error)
    // A service call (a title, a summary) that only quotes the plan must not play it; it has no session.
    if (request.sessionKey === undefined && request.tools.length === 0 && callsTools(plan)) {
      return echo
    }

    const key = JSON.stringify([request.sessionKey, speech.occurrence, speech.text])
    const consumed = consumedFailures.get(key) ?? 0
    const step = plan.steps[speech.answers + consumed]
    if (step?.fail) remember(consumedFailures, key, consumed + 1)
    return step ?? say("(plan finished)")
  }
  return { next }
}

const callsTools = (plan: { steps: readonly PlanStep[] }): boolean =>
  plan.steps.some((step) => step.calls.length > 0)

function remember(memory: Map<string, number>, key: string, value: number): void {
  memory.delete(key)
  memory.set(key, value)
  const [oldest] = memory.keys()
  if (memory.size > MEMORY_LIMIT && oldest !== undefined) memory.delete(oldest)
}

interface Speech {
  text: string
  /** Assistant messages since: the trips already made for it. */
  answers: number
  /** How often the same text was said before: survives the folding of what lies between. */
  occurrence: number
}

function newestSpeech(messages: ModelMessage[]): Speech | undefined {
  const index = messages.findLastIndex((message) => speechOf(message) !== "")
  if (index < 0) return undefined
  const text = speechOf(messages[index]!)
  return {
    text,
    answers: messages.slice(index + 1).filter((message) => message.role === "assistant").length,
    occurrence: messages.slice(0, index).filter((message) => speechOf(message) === text).length,
  }
}

/** What people said in a message; a lead who writes to a sub-agent speaks too. */
function speechOf(message: ModelMessage): string {
  if (message.role !== "user") return ""
  return message.blocks
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .filter((text) => !isMachineText(text) || text.startsWith(MACHINE_TEXT.team_mail.marker))
    .map(unquoted)
    .join("\n")
    .trim()
}

/** The words under a speaker's header, as they were said. */
function unquoted(text: string): string {
  const [header = "", ...lines] = text.split("\n")
  const quoted = lines.length > 0 && lines.every((line) => line.startsWith("> "))
  if (!quoted || !/^\[[^\]]+\]$/.test(header)) return text
  return lines.map((line) => line.slice(2)).join("\n")
}

/** Bends a step to what the request demands: a forced tool, no tools, an answer by a schema. */
function fitted(step: PlanStep, request: ModelRequest): PlanStep {
  if (step.fail) return step
  const { toolChoice, answerSchema } = request
  if (toolChoice === "none" && step.calls.length > 0) {
    const names = step.calls.map((call) => call.name).join(", ")
    return { ...step, calls: [], say: step.say || `(wanted to call ${names}, which is forbidden)` }
  }
  if (isObject(toolChoice) && !step.calls.some((call) => call.name === toolChoice.name)) {
    const tool = request.tools.find(({ name }) => name === toolChoice.name)
    const input = sampleOf(tool?.input_schema ?? {})
    return {
      ...step,
      say: "",
      calls: [{ name: toolChoice.name, input: isObject(input) ? input : {} }],
    }
  }
  if (answerSchema && step.calls.length === 0 && !isJsonObject(step.say))
    return { ...step, say: JSON.stringify(sampleOf(answerSchema.schema)) }
  return step
}

function isJsonObject(text: string): boolean {
  const parsed = tryParseJson(text)
  return parsed !== undefined && isObject(parsed.value)
}

function* eventsOf(
  step: PlanStep,
  usage: Usage,
  newCallId: () => string,
): Generator<ProviderEvent> {
  for (const text of pieces(step.think)) yield { type: "thinking", text }
  if (step.think) yield { type: "thinking_end", signature: "mock" }
  for (const text of pieces(step.say, step.chunks)) yield { type: "text", text }
  for (const [index, call] of step.calls.entries()) yield* callEvents(call, index, newCallId())
  if (step.fail) {
    const failure = { class: step.fail, message: `the plan says: fail with ${step.fail}` }
    yield { type: "failed", failure }
    return
  }
  yield { type: "usage", usage }
  yield { type: "stop", reason: step.stop ?? (step.calls.length > 0 ? "tools" : "end") }
}

function* callEvents(call: PlanCall, index: number, id: string): Generator<ProviderEvent> {
  const written = call.raw ?? JSON.stringify(call.input)
  const half = head(written, Math.ceil(written.length / 2))
  yield { type: "tool_call", index, id, name: call.name, arguments: half }
  yield { type: "tool_call", index, arguments: written.slice(half.length) }
}

/** The text in `count` deltas that end between words, or one a word. */
function pieces(text: string, count?: number): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? []
  if (count === undefined || count >= words.length) return words
  const size = Math.ceil(words.length / Math.max(1, count))
  return Array.from({ length: Math.ceil(words.length / size) }, (_, index) =>
    words.slice(index * size, (index + 1) * size).join(""),
  )
}

function usageOf(step: PlanStep, promptTokens: number): Usage {
  const count = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
  const thought = count(step.think)
  const written = step.calls.map((call) => call.raw ?? JSON.stringify(call.input)).join("")
  return {
    ...emptyUsage(),
    prompt_tokens: promptTokens,
    completion_tokens: thought + count(step.say + written),
    reasoning_tokens: thought,
    ...step.usage,
  }
}
