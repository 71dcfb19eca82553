/**
 * The facade of turns: admits sends, runs the turns of one chat one after another and of many chats side by
 * side, and lets them be followed, listed and cancelled. A turn outlives whoever sent it.
 */

import type { NewMessage } from "../chats/message-row.ts"
import type { Emission } from "../events/bus.ts"
import { deferred, keyedQueue, settledWithin } from "../lib/async.ts"
import { isoTime } from "../lib/clock.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { idsWithin } from "../lib/id.ts"
import type { Generation } from "../schema/generation.ts"
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
import { createLiveTurn, type LiveTurn } from "./live.ts"
import type { TurnParts } from "./parts.ts"
import { eventsOfStoredTurn } from "./replay.ts"
import { runTurn } from "./run.ts"
import type { TurnSpec } from "./spec.ts"
import { createTurnStore, type TurnRow } from "./store.ts"
import { giveTitle } from "./title.ts"

/** A repeat of a send with the same key within this time attaches to the first one's turn. */
export const CLIENT_KEY_MS = 24 * 3600 * 1000
/** How long a cancel waits for the turn to wind down before it answers. */
export const CANCEL_WAIT_MS = 200
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

interface ActiveTurn {
  spec: TurnSpec
  live: LiveTurn
  controller: AbortController
  state: Generation["state"]
  model: string | null
  step: () => number
  startedAt: number
  finished: Promise<void>
}

export type Turns = ReturnType<typeof createTurns>

export function createTurns(parts: TurnParts) {
  const rows = createTurnStore(parts.store)
  const active = new Map<string, ActiveTurn>()
  const queue = keyedQueue<string>()
  const admission: AdmissionParts = {
    newId: parts.newId,
    speakerOf: parts.speakerOf,
    acceptImages: parts.images.acceptAll,
    isKnownModel: parts.isKnownModel,
    magicKeywords: parts.settings.magicKeywords,
  }
  let draining = false

  /** A turn that has told its end is over for everybody, whatever it still tidies up. */
  const inChat = (chatId: string) =>
    [...active.values()].filter((turn) => turn.spec.chatId === chatId && !turn.live.ended())

  const liveOf = (turnId: string): LiveTurn | undefined => {
    const live = active.get(turnId)?.live
    return live?.ended() ? undefined : live
  }

  /** Puts an admitted turn into its chat's queue; nothing is told before the caller could listen. */
  const launch = (spec: TurnSpec, messageIds: string[]): ActiveTurn => {
    const controller = new AbortController()
    const done = deferred()
    const turn: ActiveTurn = {
      spec,
      live: createLiveTurn(parts.bus, spec.chatId, spec.id),
      controller,
      state: "queued",
      model: null,
      step: () => 0,
      startedAt: parts.clock.now(),
      finished: done.promise,
    }
    const queued = inChat(spec.chatId).length > 0
    active.set(spec.id, turn)
    const told = deferred()
    setImmediate(() => {
      turn.live.emit({ type: "accepted", message_ids: messageIds, queued })
      if (queued) turn.live.emit({ type: "queued" })
      told.resolve()
    })
    const work = async () => {
      await told.promise
      if (!controller.signal.aborted) turn.state = "running"
      await runTurn({
        parts,
        rows,
        spec,
        live: turn.live,
        signal: controller.signal,
        onStart: (running) => {
          turn.model = running.model
          turn.step = () => running.step
        },
      })
    }
    void queue
      .run(spec.chatId, work)
      .catch((error) =>
        parts.log.error("turn broke", { turn_id: spec.id, error: errorText(error) }),
      )
      .finally(() => {
        active.delete(spec.id)
        done.resolve()
      })
    return turn
  }

  /** An earlier send with this key: its turn, live, finished, or taken up again after a crash. */
  const attach = (row: TurnRow, chatId: string, send: Send): Admission => {
    const messages = parts.messages.ofTurn(chatId, row.id)
    const messageIds = messages.filter(isSpeech).map((message) => message.id)
    const live = liveOf(row.id)
    const attached = { turnId: row.id, messageIds, attached: true }
    if (live || row.state !== "interrupted" || rows.isOvertaken(row)) return { ...attached, live }
    // The kernel died before it could answer: the message is there, so only the turn starts anew.
    const chat = parts.chats.get(chatId)
    const utterances = wordsOf(send, admission)
    const spec = { ...specOf(chat, send, { utterances, parts: admission }), id: row.id }
    rows.setState(row.id, "queued")
    return { ...attached, live: launch(spec, messageIds).live }
  }

  const openChat = (chatId: string) => {
    if (draining) throw new KernelError("unavailable", "the kernel is stopping; try again soon")
    const chat = parts.chats.get(chatId)
    if (chat.deleted_at === null) return chat
    throw new KernelError("conflict", "the chat is in the bin; restore it before writing to it")
  }

  const send = async (chatId: string, body: Send): Promise<Admission> => {
    const chat = openChat(chatId)
    const key = body.client_key
    const since = parts.clock.now() - CLIENT_KEY_MS
    const earlier = key === undefined ? undefined : rows.byClientKey(chatId, key, since)
    if (earlier) return attach(earlier, chatId, body)
    if (queue.depth(chatId) >= QUEUE_MAX) {
      throw new KernelError("busy", `${QUEUE_MAX} turns already wait in this chat; try again later`)
    }
    const utterances = await utterancesOf(chat, body, admission)
    // Its twin may have been admitted while the pictures were stored.
    const twin = key === undefined ? undefined : rows.byClientKey(chatId, key, since)
    if (twin) return attach(twin, chatId, body)
    const spec = specOf(chat, body, { utterances, parts: admission })
    const messages = parts.store.write((): Message[] => {
      const stored = parts.messages.append(drafts(chatId, spec.id, utterances))
      const { id, source } = spec
      rows.insert({ id, chatId, source, clientKey: key, at: parts.clock.now() })
      if (chat.title === "") parts.chats.patch(chatId, { title: titleOf(utterances[0]!) })
      return stored
    })
    const messageIds = messages.map((message) => message.id)
    const turn = launch(spec, messageIds)
    if (chat.title === "") void turn.finished.then(() => giveTitle(parts, spec, utterances[0]!))
    return { turnId: spec.id, messageIds, live: turn.live, attached: false }
  }

  const silent = async (chatId: string, body: Send): Promise<{ message_ids: string[] }> => {
    const chat = openChat(chatId)
    const utterances = await utterancesOf(chat, body, admission)
    const stored = parts.store.write(() => parts.messages.append(drafts(chatId, null, utterances)))
    const message_ids = stored.map((message) => message.id)
    parts.bus.publish(chatId, { type: "message.silent", message_ids })
    return { message_ids }
  }

  const stop = (turn: ActiveTurn, reason: string): Promise<boolean> => {
    if (!turn.controller.signal.aborted) {
      parts.log.info("turn cancelled", { turn_id: turn.spec.id, chat_id: turn.spec.chatId, reason })
      turn.state = "cancelling"
      turn.controller.abort(new Error(reason))
    }
    return settledWithin(turn.finished, CANCEL_WAIT_MS)
  }

  const cancelChat = async (chatId: string, reason = "asked by a client"): Promise<number> => {
    const turns = inChat(chatId)
    await Promise.all(turns.map((turn) => stop(turn, reason)))
    return turns.length
  }

  return {
    send,
    silent,
    follow: liveOf,
    liveOf: (chatId: string): LiveTurn | undefined => inChat(chatId)[0]?.live,
    isRunning: (chatId: string): boolean => inChat(chatId).length > 0,
    replayFinished: (turnId: string): Emission[] => eventsOfStoredTurn(parts, rows, turnId),
    cancelChat,
    /** Cancels every turn of the chat; settles when they are over and stored. */
    stopChat: async (chatId: string, reason: string): Promise<void> => {
      const turns = inChat(chatId)
      await cancelChat(chatId, reason)
      await Promise.all(turns.map((turn) => turn.finished))
    },
    cancel: async (turnId: string, reason = "asked by a client"): Promise<boolean> => {
      const turn = active.get(turnId)
      if (turn) await stop(turn, reason)
      return turn !== undefined
    },
    generations: (): Generation[] => [...active.values()].map(asGeneration),
    /** Turns that a kernel left open when it died are marked as interrupted; their number. */
    recover: () => parts.store.write(() => rows.interruptOpen(parts.clock.now())),
    /** Takes no new sends, lets running turns end within `ms`, then cancels what is left. */
    drain: async (ms: number): Promise<void> => {
      draining = true
      const all = () => Promise.all([...active.values()].map((turn) => turn.finished))
      if (await settledWithin(all(), ms)) return
      for (const turn of active.values()) void stop(turn, "the kernel is stopping")
      await settledWithin(all(), DRAIN_CANCEL_MS)
    },
  }
}

/** After the drain time is over a cancelled turn gets this long to store what it has. */
const DRAIN_CANCEL_MS = 5000

const isSpeech = (message: Message): boolean =>
  message.role === "user" && !message.blocks.some((block) => block.type === "tool_result")

const asGeneration = (turn: ActiveTurn): Generation => ({
  id: turn.spec.id,
  chat_id: turn.spec.chatId,
  source: turn.spec.source,
  state: turn.state,
  model: turn.model,
  step: turn.step(),
  started_at: isoTime(turn.startedAt),
})

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
