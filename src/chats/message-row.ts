/** A message as a row and back: blocks and rare fields are JSON, instants are milliseconds. */
import { isoTime } from "../lib/clock.ts"
import { isObject, parseJson } from "../lib/json.ts"
import { cleanText } from "../lib/text.ts"
import type { Block, Message, Role } from "../schema/message.ts"
import type { MessageRow } from "./store.ts"

/** What only some messages have; kept together in one JSON column. */
type Extra = Pick<
  Message,
  "sender" | "model" | "anchor" | "ext_id" | "reply_to_ext_id" | "reply_to_text" | "closes"
>

/** A message that is about to be stored. */
export interface NewMessage extends Extra {
  /** Given when somebody had to know the id before; it must sort after the chat's last message. */
  id?: string
  chat_id: string
  turn_id: string | null
  role: Role
  blocks: Block[]
  master: boolean
  /** When it was said, in milliseconds; absent means now. */
  created_at?: number
}

export function encodeMessage(draft: NewMessage, given: { id: string; now: number }): MessageRow {
  const { id, chat_id, turn_id, role, blocks, master, created_at, ...rare } = draft
  const extra = storableJson(rare)
  return {
    id: id ?? given.id,
    chat_id,
    turn_id,
    role,
    blocks: storableJson(blocks),
    extra: extra === "{}" ? null : extra,
    master: master ? 1 : 0,
    created_at: created_at ?? given.now,
  }
}

export function decodeMessage(row: MessageRow): Message {
  return {
    id: row.id,
    chat_id: row.chat_id,
    turn_id: row.turn_id,
    role: row.role as Role,
    blocks: parseJson(row.blocks) as Block[],
    created_at: isoTime(row.created_at),
    master: row.master === 1,
    ...(row.extra !== null && (parseJson(row.extra) as Extra)),
  }
}

/** How JSON writes a NUL or a lone surrogate; also matches a backslash that people typed, which is harmless. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/

/** JSON whose strings, keys included, can be stored and sent to any provider. */
function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return UNSTORABLE.test(json) ? JSON.stringify(cleaned(value)) : json
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [cleanText(key), cleaned(inner)]),
  )
}
