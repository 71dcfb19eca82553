/** Routes of running turns: joined, listed, cancelled; and the one feed over many chats. */
import { Elysia } from "elysia"
import { KernelError } from "../lib/error.ts"
import { Cancelled } from "../schema/cancelled.ts"
import { GenerationList } from "../schema/generation.ts"
import { FeedHeaders, FeedQuery, LiveQuery } from "../schema/stream.ts"
import { describe, json, takesQuery } from "./describe.ts"
import { FEED_STREAM, TURN_STREAM } from "./event-schemas.ts"
import { type FollowParts, followLive } from "./follow.ts"
import { markSettled } from "./missed.ts"
import type { ApiParts } from "./parts.ts"

type TurnRouteParts = Pick<ApiParts, "chats"> & FollowParts

export function turnRoutes(parts: TurnRouteParts) {
  const { chats, turns } = parts
  return new Elysia({ prefix: "/v1" })
    .get(
      "/chats/:id/live",
      ({ params, query, request, server, status }) => {
        const chat = chats.get(params.id)
        server?.timeout(request, 0)
        const options = { mute: names(query.mute), request }
        const wanted = { chatId: chat.id, since: query.since }
        return followLive(parts, wanted, options) ?? status(204, undefined)
      },
      LIVE,
    )
    .post(
      "/chats/:id/cancel",
      async ({ params }) => {
        const chat = chats.get(params.id)
        const cancelled = await turns.cancelChat(chat.id)
        if (cancelled > 0) return { cancelled }
        throw new KernelError("not_found", "no turn runs in this chat")
      },
      CANCEL_CHAT,
    )
    .get("/generations", () => ({ generations: turns.generations() }), GENERATIONS)
    .post(
      "/generations/:id/cancel",
      async ({ params }) => {
        if (await turns.cancel(params.id)) return { cancelled: 1 }
        throw new KernelError("not_found", `no turn with id ${params.id} runs`)
      },
      CANCEL_TURN,
    )
    .get(
      "/feed",
      ({ query, headers, request, server }) => {
        server?.timeout(request, 0)
        const since = query.since ?? positionOf(headers["last-event-id"])
        return openFeed(
          parts,
          { chats: chatsOf(query.chats), since },
          {
            mute: names(query.mute),
            withIds: true,
            request,
          },
        )
      },
      FEED,
    )
}

function openFeed(
  { bus, streams, turns }: TurnRouteParts,
  wanted: { chats: string[] | undefined; since: number | undefined },
  options: Parameters<TurnRouteParts["streams"]["open"]>[0],
): Response {
  const { chats, since } = wanted
  return streams.open(options, (stream) => {
    const filter = { ...(chats && { chats }), ...(since !== undefined && { since }) }
    const { missed, reset, unsubscribe } = bus.subscribe(filter, stream.push)
    if (reset) stream.reset(bus.lastSeq())
    else if (since === undefined) stream.position(bus.lastSeq())
    for (const emission of markSettled(missed, turns)) stream.push(emission)
    return unsubscribe
  })
}

const names = (list: string | undefined): string[] | undefined =>
  list
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/** The chats of a feed; undefined for all of them. */
function chatsOf(list: string | undefined): string[] | undefined {
  const ids = names(list)
  return ids === undefined || ids.includes("*") ? undefined : ids
}

/** What a browser sends back by itself; anything that is no position of ours starts afresh. */
function positionOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined
}

const LIVE = {
  ...takesQuery(LiveQuery),
  detail: describe({
    tag: "turns",
    summary: "Join the running turn of a chat",
    description:
      "First everything so far, marked `replayed: true` (to be drawn, never executed), then the rest " +
      "as it happens. With `since` only what came after that event, unmarked.",
    answers: {
      200: { description: "The turn", schema: TURN_STREAM, type: "text/event-stream" },
      204: { description: "No turn runs, and nothing was missed" },
    },
    problems: ["invalid", "not_found"],
  }),
}

const CANCEL_CHAT = {
  detail: describe({
    tag: "turns",
    summary: "Cancel the turns of a chat",
    description: "The running one and those that wait. What was said so far is stored.",
    answers: { 200: json(Cancelled) },
    problems: ["not_found"],
  }),
}

const GENERATIONS = {
  detail: describe({
    tag: "turns",
    summary: "List live turns",
    answers: { 200: json(GenerationList, "Running and waiting turns of all chats") },
  }),
}

const CANCEL_TURN = {
  detail: describe({
    tag: "turns",
    summary: "Cancel one turn",
    answers: { 200: json(Cancelled) },
    problems: ["not_found"],
  }),
}

const FEED = {
  ...takesQuery(FeedQuery),
  headers: FeedHeaders,
  detail: describe({
    tag: "turns",
    summary: "Follow many chats in one stream",
    description:
      "Every event of these chats and every change of the list of chats, with `id:` lines to resume " +
      "from by `since` or `Last-Event-ID`. When that position is no longer known the stream begins " +
      "with `reset`: read items again. It never ends by itself.",
    answers: {
      200: { description: "The feed", schema: FEED_STREAM, type: "text/event-stream" },
    },
    problems: ["invalid"],
  }),
}
