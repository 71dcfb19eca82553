/** Requests and runs for the tests of this room. */
import { createFold, type FoldedMessage } from "../../src/llm/fold.ts"
import type { ModelMessage, ModelRequest, Provider, ProviderEvent } from "../../src/llm/provider.ts"
import type { Block } from "../../src/schema/message.ts"
import type { ToolSpec } from "../../src/schema/tool-spec.ts"

export const user = (...blocks: (string | Block)[]): ModelMessage => ({
  role: "user",
  blocks: blocks.map((block) =>
    typeof block === "string" ? { type: "text", text: block } : block,
  ),
})

export const assistant = (...blocks: (string | Block)[]): ModelMessage => ({
  ...user(...blocks),
  role: "assistant",
})

export const call = (id: string, name = "clock", input: unknown = {}): Block => ({
  type: "tool_use",
  id,
  name,
  input,
})

export const result = (id: string, output = "noon"): Block => ({
  type: "tool_result",
  id,
  output,
  is_error: false,
})

export const clockTool: ToolSpec = {
  name: "clock",
  description: "Tells the time",
  input_schema: {
    type: "object",
    properties: { zone: { type: "string" } },
    required: ["zone"],
  },
}

export const request = (
  messages: ModelMessage[] | string,
  more: Partial<ModelRequest> = {},
): ModelRequest => ({
  model: "mock",
  system: [{ text: "You are helpful." }],
  messages: typeof messages === "string" ? [user(messages)] : messages,
  tools: [clockTool],
  effort: "off",
  images: new Map(),
  ...more,
})

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = []
  for await (const event of stream) events.push(event)
  return events
}

/** One trip, as events and folded. */
export async function trip(
  provider: Provider,
  asked: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<FoldedMessage & { events: ProviderEvent[] }> {
  const events = await collect(provider.stream(asked, signal))
  const fold = createFold({ provider: provider.kind, model: asked.model }, () => "unnamed")
  for (const event of events) fold.push(event)
  return { ...fold.result(), events }
}

export const textOf = (blocks: Block[]): string =>
  blocks.map((block) => (block.type === "text" ? block.text : "")).join("")

/** Plays a whole turn against the provider: each call is answered with `result`, each answer recorded. */
export async function turn(
  provider: Provider,
  asked: ModelRequest,
  limit = 20,
): Promise<FoldedMessage[]> {
  const answers: FoldedMessage[] = []
  const messages = [...asked.messages]
  for (let step = 0; step < limit; step++) {
    const answer = await trip(provider, { ...asked, messages: [...messages] })
    answers.push(answer)
    if (answer.failure?.class === "transient") continue
    const calls = answer.blocks.filter((block) => block.type === "tool_use")
    if (answer.failure || calls.length === 0) return answers
    messages.push(assistant(...answer.blocks), user(...calls.map((block) => result(block.id))))
  }
  return answers
}
