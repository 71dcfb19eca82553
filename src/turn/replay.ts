/** A finished turn told again out of what is stored: for a client that asks after the end. */
import type { Emission } from "../events/bus.ts"
import { notFound } from "../lib/error.ts"
import type { TurnEvent } from "../schema/event.ts"
import type { Block, Message } from "../schema/message.ts"
import { replayOf, toolCallEvent } from "./live.ts"
import type { TurnParts } from "./parts.ts"
import type { TurnRow, TurnStore } from "./store.ts"

export function eventsOfStoredTurn(parts: TurnParts, rows: TurnStore, turnId: string): Emission[] {
  const row = rows.get(turnId)
  if (!row) throw notFound("turn", turnId)
  const messages = parts.messages.ofTurn(row.chat_id, turnId)
  const events = [
    ...messages.flatMap((message) => message.blocks.flatMap(eventsOfBlock(message, parts))),
    lastEvent(row),
  ]
  return replayOf(events, { chatId: row.chat_id, turnId, seq: parts.bus.lastSeq() })
}

const eventsOfBlock =
  (message: Message, parts: TurnParts) =>
  (block: Block): TurnEvent[] => {
    if (block.type === "tool_result") {
      const { id, output, is_error } = block
      return [{ type: "tool_result", id, output, is_error }]
    }
    if (message.role === "user") return []
    switch (block.type) {
      case "text":
        return [{ type: "text_delta", text: block.text }]
      case "thinking":
        return block.text === "" ? [] : [{ type: "thinking_delta", text: block.text }]
      case "image":
        return [
          {
            type: "image",
            id: block.id,
            media_type: block.media_type,
            url: parts.images.url(block.id),
          },
        ]
      case "tool_use":
        return [toolCallEvent(block)]
    }
  }

function lastEvent(row: TurnRow): TurnEvent {
  if (row.state === "done" || row.state === "cancelled") return { type: "done", reason: row.state }
  return {
    type: "error",
    message: row.error ?? "the kernel stopped before this turn was over",
    code: row.error_code ?? "interrupted",
    retryable: row.state === "interrupted" || row.error_code === "transient",
  }
}
