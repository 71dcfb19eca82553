/** Sends: stored as one transaction, then a turn; or stored only; or joined to the turn they repeat. */
import type { NewMessage } from "../chats/message-row.ts"
import { KernelError } from "../lib/error.ts"
import { idsWithin } from "../lib/id.ts"
import type { Chat } from "../schema/chat.ts"
import type { Message } from "../schema/message.ts"
import type { Send } from "../schema/send.ts"
import {
  type AdmissionParts,
  specOf,
  titleOf,
  type Utterance,
  utterancesOf,
  wordsOf,
} from "./admission.ts"
import { checkExtraTools } from "./extra-tools.ts"
import type { LiveTurn } from "./live.ts"
import { launch, liveTurn, type TurnRoom } from "./room.ts"
import type { TurnRow } from "./store.ts"
import { giveTitle } from "./title.ts"

/** A repeat of a send with the same key within this time attaches to the first one's turn. */
export const CLIENT_KEY_MS = 24 * 3600 * 1000
/** Turns that may wait in one chat. */
const QUEUE_MAX = 100

export interface Admission {
  turnId: string
  messageIds: string[]
  /** The turn's stream; undefined when it is over, to be read by `replayFinished`. */
  live: LiveTurn | undefined
  /** The send repeated an earlier one: nothing was stored. */
  attached: boolean
}

/** Throws KernelError: invalid, not_found, conflict for a chat in the bin, busy, unavailable. */
export async function send(room: TurnRoom, chatId: string, body: Send): Promise<Admission> {
  const chat = openChat(room, chatId)
  const admission = admissionParts(room)
  const earlier = turnOfKey(room, chatId, body)
  if (earlier) return attach(room, earlier, body)
  if (room.queue.depth(chatId) >= QUEUE_MAX) {
    throw new KernelError("busy", `${QUEUE_MAX} turns already wait in this chat; try again later`)
  }
  checkExtraTools(body.extra_tools, (name) => room.parts.registry.get(name) !== undefined)
  const utterances = await utterancesOf(chat, body, admission)
  const spec = specOf(chat, body, { utterances, parts: admission })
  const { id, source } = spec
  const { parts } = room
  const stored = await parts.store.commit((): Message[] | TurnRow => {
    // Its twin may have been admitted while the pictures, or this very batch, were stored.
    const twin = turnOfKey(room, chatId, body)
    if (twin) return twin
    const messages = parts.messages.append(drafts(chatId, id, utterances))
    room.rows.insert({ id, chatId, source, clientKey: body.client_key, at: parts.clock.now() })
    if (chat.title === "") parts.chats.patch(chatId, { title: titleOf(body, utterances[0]!) })
    return messages
  })
  if (!Array.isArray(stored)) return attach(room, stored, body)
  const messageIds = stored.map((message) => message.id)
  const turn = launch(room, spec, messageIds)
  // What the surface calls a chat is its name; only a chat without one is named by a model.
  if (chat.title === "" && body.chat_title === undefined) {
    void turn.finished.then(() => giveTitle(parts, spec, utterances[0]!))
  }
  return { turnId: id, messageIds, live: turn.live, attached: false }
}

/** Stores without a turn and tells listeners; the ids. Throws like `send`. */
export async function sendSilently(
  room: TurnRoom,
  chatId: string,
  body: Send,
): Promise<{ message_ids: string[] }> {
  const chat = openChat(room, chatId)
  const { store, messages, bus } = room.parts
  const utterances = await utterancesOf(chat, body, admissionParts(room))
  const stored = await store.commit(() => messages.append(drafts(chatId, null, utterances)))
  const message_ids = stored.map((message) => message.id)
  bus.publish(chatId, { type: "message.silent", message_ids })
  return { message_ids }
}

const admissionParts = ({ parts }: TurnRoom): AdmissionParts => ({
  newId: parts.newId,
  speakerOf: parts.speakerOf,
  acceptImages: parts.images.acceptAll,
  isKnownModel: parts.isKnownModel,
  magicKeywords: parts.settings.magicKeywords,
  checkToolset: (name) => void parts.toolsets.get(name),
  clientContextChars: parts.settings.context.client_context_chars,
})

function openChat({ parts, draining }: TurnRoom, chatId: string): Chat {
  if (draining) throw new KernelError("unavailable", "the kernel is stopping; try again soon")
  const chat = parts.chats.get(chatId)
  if (chat.deleted_at === null) return chat
  throw new KernelError("conflict", "the chat is in the bin; restore it before writing to it")
}

function turnOfKey(room: TurnRoom, chatId: string, body: Send): TurnRow | undefined {
  if (body.client_key === undefined) return undefined
  return room.rows.byClientKey(chatId, body.client_key, room.parts.clock.now() - CLIENT_KEY_MS)
}

/** An earlier send with this key: its turn, live, finished, or taken up again after a crash. */
function attach(room: TurnRoom, row: TurnRow, body: Send): Admission {
  const { parts, rows } = room
  const { id, chat_id } = row
  const spoken = parts.messages.ofTurn(chat_id, id).filter(isSpeech)
  const messageIds = spoken.map((message) => message.id)
  const attached = { turnId: id, messageIds, attached: true }
  const live = liveTurn(room, id)
  if (live || row.state !== "interrupted" || rows.isOvertaken(row)) return { ...attached, live }
  // The kernel died before it could answer: the message is there, so only the turn starts anew.
  const admission = admissionParts(room)
  const utterances = wordsOf(body, admission)
  const spec = specOf(parts.chats.get(chat_id), body, { utterances, parts: admission })
  rows.reopen(id)
  return { ...attached, live: launch(room, { ...spec, id }, messageIds).live }
}

const isSpeech = (message: Message): boolean =>
  message.role === "user" && !message.blocks.some((block) => block.type === "tool_result")

/** Messages of a turn bear ids within the turn's; those without a turn stand on their own. */
function drafts(
  chatId: string,
  turnId: string | null,
  utterances: readonly Utterance[],
): NewMessage[] {
  const newId = turnId === null ? () => undefined : idsWithin(turnId)
  return utterances.map(({ saidAt, privileged: _rights, ...utterance }) => {
    const id = newId()
    return {
      ...utterance,
      ...(id !== undefined && { id }),
      ...(saidAt !== undefined && { created_at: saidAt }),
      chat_id: chatId,
      turn_id: turnId,
      role: "user",
    }
  })
}
