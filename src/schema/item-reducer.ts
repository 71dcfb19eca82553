/**
 * Events and stored messages to items. Browser-safe and shared: the live stream, the history reader and
 * every client use this one reducer.
 */
import type { TurnEvent } from "./event.ts"
import type { Item, ItemStatus } from "./item.ts"
import { machineTextKind } from "./machine-text.ts"
import type { Block, Message } from "./message.ts"
import { shownInput } from "./question.ts"
import type { ResolutionReason } from "./resolution.ts"

type ItemEvent = TurnEvent & { type: "item_started" | "item_delta" | "item_completed" }

type SpokenItem = Extract<Item, { kind: "agent_message" | "thinking" }>
type CallItem = Extract<Item, { kind: "tool_call" }>
type PlanItem = Extract<Item, { kind: "plan" }>
type OpItem = Extract<Item, { kind: "client_op" }>

/** What of a live turn is drawn so far and not complete. */
interface OpenItems {
  turnId: string
  /** How many items the turn has: the number of the next. */
  count: number
  /** The thought or text that grows. */
  spoken: SpokenItem | undefined
  /** Calls without a result, by the id of the call. */
  calls: Map<string, CallItem>
  /** The plan, from its first change in the turn on. */
  plan: PlanItem | undefined
  /** Client operations without a resolution, by their id. They may outlive the turn. */
  ops: Map<string, OpItem>
}

/** What a live turn draws: fed with plain turn events, gives the item events that mirror them. */
export function createItemReducer(turnId: string) {
  const open: OpenItems = {
    ...{ turnId, count: 0, spoken: undefined, plan: undefined },
    ...{ calls: new Map(), ops: new Map() },
  }
  return {
    /** The item events that a client gets right after this event (right before, for `done` and `error`). */
    push: (event: TurnEvent): ItemEvent[] => {
      switch (event.type) {
        case "text_delta":
          return growSpoken(open, "agent_message", event.text)
        case "thinking_delta":
          return growSpoken(open, "thinking", event.text)
        case "tool_call":
          return startCall(open, event)
        case "tool_progress":
          return growCall(open, event)
        case "tool_result":
          return completeCall(open, event)
        case "client_op":
          return startOp(open, event)
        case "request_resolved":
          return completeOp(open, event)
        case "image":
          return drawImage(open, event)
        case "plan":
          return drawPlan(open, event)
        case "done":
          return completeAll(open, event.reason === "cancelled" ? "aborted" : "completed")
        case "error":
          return completeAll(open, "failed")
        default:
          return []
      }
    },
  }
}

const nextBase = <S extends ItemStatus>(open: OpenItems, status: S) => ({
  id: `${open.turnId}:${open.count++}`,
  status,
  turn_id: open.turnId,
})

function growSpoken(open: OpenItems, kind: SpokenItem["kind"], text: string): ItemEvent[] {
  const { spoken } = open
  if (spoken?.kind === kind) {
    spoken.text += text
    return [{ type: "item_delta", id: spoken.id, delta: { text } }]
  }
  const before = completeSpoken(open, "completed")
  const item: SpokenItem = { ...nextBase(open, "running"), kind, text: "" }
  open.spoken = { ...item, text }
  return [
    ...before,
    { type: "item_started", item },
    { type: "item_delta", id: item.id, delta: { text } },
  ]
}

function completeSpoken(open: OpenItems, status: ItemStatus): ItemEvent[] {
  const { spoken } = open
  open.spoken = undefined
  return spoken ? [{ type: "item_completed", item: { ...spoken, status } }] : []
}

function startCall(open: OpenItems, event: TurnEvent & { type: "tool_call" }): ItemEvent[] {
  const before = completeSpoken(open, "completed")
  const { id: call_id, name, input } = event
  const item: CallItem = { ...nextBase(open, "running"), kind: "tool_call", call_id, name, input }
  open.calls.set(call_id, item)
  return [...before, { type: "item_started", item }]
}

function growCall(open: OpenItems, event: TurnEvent & { type: "tool_progress" }): ItemEvent[] {
  const item = open.calls.get(event.id)
  return item ? [{ type: "item_delta", id: item.id, delta: { progress: event.output } }] : []
}

function completeCall(open: OpenItems, event: TurnEvent & { type: "tool_result" }): ItemEvent[] {
  const item = open.calls.get(event.id)
  if (!item) return []
  open.calls.delete(event.id)
  const { output, is_error } = event
  const status = resultStatus(event)
  return [{ type: "item_completed", item: { ...item, status, result: { output, is_error } } }]
}

function startOp(open: OpenItems, event: TurnEvent & { type: "client_op" }): ItemEvent[] {
  const { type: kind, ...op } = event
  const item: OpItem = { ...nextBase(open, "running"), kind, ...op }
  open.ops.set(op.op_id, item)
  return [{ type: "item_started", item }]
}

const OP_STATUS: Readonly<Record<ResolutionReason, ItemStatus>> = {
  answered: "completed",
  expired: "failed",
  turn_ended: "aborted",
  cancelled: "aborted",
}

function completeOp(open: OpenItems, event: TurnEvent & { type: "request_resolved" }): ItemEvent[] {
  const item = open.ops.get(event.id)
  if (!item) return []
  open.ops.delete(event.id)
  const { reason: resolution } = event
  return [{ type: "item_completed", item: { ...item, status: OP_STATUS[resolution], resolution } }]
}

function drawImage(open: OpenItems, event: TurnEvent & { type: "image" }): ItemEvent[] {
  const before = completeSpoken(open, "completed")
  const { id: image_id, media_type, url } = event
  const item: Item = { ...nextBase(open, "completed"), kind: "image", image_id, media_type, url }
  return [...before, { type: "item_completed", item }]
}

function drawPlan(open: OpenItems, { tasks }: TurnEvent & { type: "plan" }): ItemEvent[] {
  if (tasks.length === 0) return completePlan(open, "completed")
  const item = open.plan ?? { ...nextBase(open, "running"), kind: "plan", tasks: [] }
  const started: ItemEvent[] = open.plan ? [] : [{ type: "item_started", item }]
  open.plan = { ...item, tasks }
  return [...started, { type: "item_delta", id: item.id, delta: { tasks } }]
}

/** It shows what the plan was at last, and whether it was given up. */
function completePlan(open: OpenItems, status: ItemStatus): ItemEvent[] {
  const { plan } = open
  open.plan = undefined
  return plan ? [{ type: "item_completed", item: { ...plan, status } }] : []
}

function completeAll(open: OpenItems, status: ItemStatus): ItemEvent[] {
  const spoken = [...completeSpoken(open, status), ...completePlan(open, status)]
  const calls = [...open.calls.values()]
  open.calls.clear()
  return [
    ...spoken,
    ...calls.map((item): ItemEvent => {
      return { type: "item_completed", item: { ...item, status: "aborted" } }
    }),
  ]
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
        input: shownInput(block.name, block.input),
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
