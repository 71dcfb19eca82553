/** Gathers the events of one network read, adjacent deltas of one kind merged into one event. */
import type { ProviderEvent } from "./provider.ts"

type ToolCallEvent = ProviderEvent & { type: "tool_call" }

export interface EventSink {
  text(text: string): void
  thinking(text: string): void
  toolCall(event: Omit<ToolCallEvent, "type">): void
  push(event: ProviderEvent): void
  /** Whether anything has gathered. */
  filled(): boolean
  /** What has gathered, and empties the sink. */
  drain(): ProviderEvent[]
}

export function createEventSink(): EventSink {
  let events: ProviderEvent[] = []
  let last: ProviderEvent | undefined

  const push = (event: ProviderEvent): void => {
    events.push(event)
    last = event
  }
  const delta = (type: "text" | "thinking", text: string): void => {
    if (text === "") return
    if (last?.type === type) last.text += text
    else push({ type, text })
  }

  return {
    text: (text) => delta("text", text),
    thinking: (text) => delta("thinking", text),
    toolCall: (event) => {
      const continues =
        last?.type === "tool_call" && last.index === event.index && !event.id && !event.name
      if (continues) (last as ToolCallEvent).arguments += event.arguments
      else push({ type: "tool_call", ...event })
    },
    push,
    filled: () => last !== undefined,
    drain: () => {
      const drained = events
      events = []
      last = undefined
      return drained
    },
  }
}
