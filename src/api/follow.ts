/**
 * The stream of one turn: what happened so far when the client comes late, then every event of the turn as
 * it happens, up to its `done` or `error`. Whoever leaves leaves the turn running.
 */
import type { Bus, Emission } from "../events/bus.ts"
import type { Send } from "../schema/send.ts"
import type { Admission } from "../turn/send.ts"
import { markSettled } from "./missed.ts"
import type { ApiParts } from "./parts.ts"
import type { StreamOptions, Streams } from "./stream.ts"
import type { EventStream } from "./stream-client.ts"

export type FollowParts = Pick<ApiParts, "bus" | "turns"> & { streams: Streams }

/** Admits the send and streams its turn. Throws what admission throws, before any stream is open. */
export async function sendAndFollow(
  { bus, turns, streams }: FollowParts,
  request: { chatId: string; send: Send },
  options: StreamOptions,
): Promise<Response> {
  // Listening starts before the turn exists, so that nothing of it can be missed.
  const ear = listen(bus, request.chatId)
  let admission: Admission
  try {
    admission = await turns.send(request.chatId, request.send)
  } catch (error) {
    ear.stop()
    throw error
  }
  const { turnId, live, attached } = admission
  return streams.open(options, (stream) => {
    const past = live ? (attached ? live.replay() : []) : turns.replayFinished(turnId)
    return ear.tell(stream, { turnId, past })
  })
}

/**
 * Joins the running turn of a chat; undefined when none runs and nothing was missed. With `since` only what
 * came after it is sent, which may be the tail of a turn that is over; without it, or when that position is
 * gone, the whole turn is drawn again.
 */
export function followLive(
  { bus, turns, streams }: FollowParts,
  request: { chatId: string; since: number | undefined },
  options: StreamOptions,
): Response | undefined {
  const live = turns.liveOf(request.chatId)
  const ear = listen(bus, request.chatId, request.since)
  if (live === undefined && !ear.missed?.length) {
    ear.stop()
    return undefined
  }
  return streams.open(options, (stream) => {
    const past = ear.missed ? markSettled(ear.missed, turns) : (live?.replay() ?? [])
    const stop = ear.tell(stream, { turnId: live?.turnId, past })
    if (live === undefined) stream.end()
    return stop
  })
}

/** Keeps what a chat publishes until a stream takes over. */
function listen(bus: Bus, chatId: string, since?: number) {
  const kept: Emission[] = []
  let sink = (emission: Emission): void => void kept.push(emission)
  const filter = { chats: [chatId], ...(since !== undefined && { since }) }
  const { missed, reset, unsubscribe } = bus.subscribe(filter, (emission) => sink(emission))
  const ofTurns = missed.filter(({ turnId }) => turnId !== undefined)
  return {
    stop: unsubscribe,
    /** What the chat's turns published after `since`; undefined without it, or when that is gone. */
    missed: since === undefined || reset ? undefined : ofTurns,
    /** Tells the past, then all that this turn publishes after it. Gives what stops the telling. */
    tell: (stream: EventStream, told: { turnId: string | undefined; past: Emission[] }) => {
      const { turnId, past } = told
      const seen = past.at(-1)?.seq ?? 0
      const isOver = past.some((emission) => emission.turnId === turnId && isLast(emission))
      const next = (emission: Emission): void => {
        if (emission.turnId !== turnId || emission.seq <= seen) return
        stream.push(emission)
        if (isLast(emission)) stream.end()
      }
      for (const emission of past) stream.push(emission)
      if (isOver) stream.end()
      for (const emission of kept) next(emission)
      sink = next
      return unsubscribe
    },
  }
}

const isLast = ({ type }: Emission): boolean => type === "done" || type === "error"
