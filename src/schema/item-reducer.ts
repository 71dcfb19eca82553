/**
 * Events and stored messages to items. Browser-safe and shared: the live stream, the history reader and
 * every client use this one reducer.
 */
import type { TurnEvent } from "./event.ts"
import type { Item, ItemStatus } from "./item.ts"
import { machineTextKind } from "./machine-text.ts"
import type { Block, Message } from "./message.ts"

type ItemEvent = TurnEvent & { type: "item_started" | "item_delta" | "item_completed" }

type SpokenItem = Extract<Item, { kind: "agent_message" | "thinking" }>
type CallItem = Extract<Item, { kind: "tool_call" }>

/** What a live turn draws: fed with plain turn events, gives the item events that mirror them. */
export function createItemReducer(turnId: string) {
  let count = 0
  let open: SpokenItem | undefined
  const calls = new Map<string, CallItem>()
  const nextId = () => `${turnId}:${count++}`

  const close = (status: ItemStatus): ItemEvent[] => {
    if (open === undefined) return []
    const item: Item = { ...open, status }
    open = undefined
    return [{ type: "item_completed", item }]
  }

  const grow = (kind: "agent_message" | "thinking", text: string): ItemEvent[] => {
    const events: ItemEvent[] = []
    if (open?.kind !== kind) {
      events.push(...close("completed"))
      const item: SpokenItem = { id: nextId(), kind, status: "running", turn_id: turnId, text: "" }
      open = { ...item }
      events.push({ type: "item_started", item })
    }
    open.text += text
    events.push({ type: "item_delta", id: open.id, delta: { text } })
    return events
  }

  const finish = (status: ItemStatus): ItemEvent[] => {
    const events = close(status)
    for (const item of calls.values()) {
      events.push({ type: "item_completed", item: { ...item, status: "aborted" } })
    }
    calls.clear()
    return events
  }

  /** The item events that a client gets right after this event (right before, for `done` and `error`). */
  const push = (event: TurnEvent): ItemEvent[] => {
    switch (event.type) {
      case "text_delta":
        return grow("agent_message", event.text)
      case "thinking_delta":
        return grow("thinking", event.text)
      case "tool_call": {
        const closed = close("completed")
        const { id: call_id, name, input } = event
        const item = {
          ...{ id: nextId(), kind: "tool_call" as const, status: "running" as const },
          ...{ turn_id: turnId, call_id, name, input },
        }
        calls.set(call_id, item)
        return [...closed, { type: "item_started", item }]
      }
      case "tool_progress": {
        const item = calls.get(event.id)
        return item ? [{ type: "item_delta", id: item.id, delta: { progress: event.output } }] : []
      }
      case "tool_result": {
        const item = calls.get(event.id)
        if (!item) return []
        calls.delete(event.id)
        const { output, is_error } = event
        const status = resultStatus(event)
        return [{ type: "item_completed", item: { ...item, status, result: { output, is_error } } }]
      }
      case "image": {
        const { id: image_id, media_type, url } = event
        const status = "completed" as const
        const item = { id: nextId(), kind: "image" as const, status, turn_id: turnId }
        return [
          ...close("completed"),
          { type: "item_completed", item: { ...item, image_id, media_type, url } },
        ]
      }
      case "done":
        return finish(event.reason === "cancelled" ? "aborted" : "completed")
      case "error":
        return finish("failed")
      default:
        return []
    }
  }

  return { push }
}

/** Stored messages (oldest first) to items; a tool result is nested into its call. */
export function itemsOfMessages(
  messages: readonly Message[],
  imageUrl: (id: string) => string,
): Item[] {
  const items: Item[] = []
  const calls = new Map<string, CallItem>()
  for (const message of messages) {
    let count = 0
    const base = (status: ItemStatus = "completed") => ({
      id: `${message.id}:${count++}`,
      status,
      turn_id: message.turn_id,
    })
    if (message.role === "user" && !message.blocks.some((block) => block.type === "tool_result")) {
      const item = userItem(message, base)
      if (item) items.push(item)
      continue
    }
    for (const block of message.blocks) {
      if (block.type === "tool_result") {
        const call = calls.get(block.id)
        if (!call) continue
        call.result = { output: block.output, is_error: block.is_error }
        call.status = resultStatus(block)
        continue
      }
      const item = assistantItem(message, block, { base, imageUrl })
      if (item?.kind === "tool_call") calls.set(item.call_id, item)
      if (item) items.push(item)
    }
  }
  return items
}

type Base = (status?: ItemStatus) => Pick<Item, "id" | "status" | "turn_id">

function userItem(message: Message, base: Base): Item | undefined {
  const texts = message.blocks.filter((block) => block.type === "text").map((block) => block.text)
  const text = texts.join("\n\n")
  const kind = texts.length === 1 ? machineTextKind(text) : undefined
  if (kind === "compaction_marker") return { ...base(), kind: "compaction" }
  if (kind) return { ...base(), kind: "machine_note", note: kind, text }
  const images = message.blocks.filter((block) => block.type === "image").map((block) => block.id)
  const { master, created_at, sender, ext_id, reply_to_ext_id, reply_to_text } = message
  return {
    ...base(),
    kind: "user_message",
    text,
    master,
    created_at,
    ...(sender !== undefined && { sender }),
    ...(images.length > 0 && { images }),
    ...(ext_id !== undefined && { ext_id }),
    ...(reply_to_ext_id !== undefined && { reply_to_ext_id }),
    ...(reply_to_text !== undefined && { reply_to_text }),
  }
}

function assistantItem(
  message: Message,
  block: Block,
  tools: { base: Base; imageUrl: (id: string) => string },
): Item | undefined {
  const { base, imageUrl } = tools
  switch (block.type) {
    case "text":
      return {
        ...base(),
        kind: "agent_message",
        text: block.text,
        created_at: message.created_at,
        ...(message.model !== undefined && { model: message.model }),
        ...(message.closes !== undefined && { closes: message.closes }),
      }
    case "thinking":
      return block.text === "" ? undefined : { ...base(), kind: "thinking", text: block.text }
    case "image": {
      const url = imageUrl(block.id)
      return { ...base(), kind: "image", image_id: block.id, media_type: block.media_type, url }
    }
    case "tool_use":
      // A call without a result was cut off by a crash; a result further down completes it.
      return {
        ...base("aborted"),
        kind: "tool_call",
        call_id: block.id,
        name: block.name,
        input: block.input,
      }
    case "tool_result":
      return undefined
  }
}

function resultStatus(result: { output: string; is_error: boolean }): ItemStatus {
  const kind = machineTextKind(result.output)
  if (kind === "call_cancelled" || kind === "call_interrupted") return "aborted"
  return result.is_error ? "failed" : "completed"
}
