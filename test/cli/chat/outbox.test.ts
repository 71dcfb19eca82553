/** Orders of events that a real kernel gives now and then: a server that answers when told takes its place. */
import { afterEach, expect, test } from "bun:test"
import { createKernelClient } from "../../../src/cli/chat/kernel-client.ts"
import { Outbox } from "../../../src/cli/chat/outbox.ts"
import { systemClock } from "../../../src/lib/clock.ts"

let stop = () => {}
afterEach(() => stop())

test("a turn that ended before its name was read is not taken up again after a restart", async () => {
  const name = Promise.withResolvers<void>()
  const keys: unknown[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      keys.push(((await request.json()) as { client_key: string }).client_key)
      await name.promise
      const accepted = { type: "accepted", turn_id: "turn", message_ids: ["message"], seq: 1 }
      const headers = { "content-type": "text/event-stream", "x-eva-version": "0" }
      return new Response(`data: ${JSON.stringify(accepted)}\n\n`, { headers })
    },
  })
  const outbox = new Outbox({
    client: createKernelClient({
      address: () => ({ url: `http://127.0.0.1:${server.port}`, token: undefined }),
    }),
    clock: systemClock,
    newKey: () => `key ${keys.length}`,
    hasHands: false,
    onChange: () => {},
    onNamed: () => {},
  })
  stop = () => {
    outbox.close()
    void server.stop(true)
  }
  // One message at a time goes to a place: what is taken up again comes before what is said next.
  const place = { chatId: "chat", resolve: async () => "chat" }
  const sent = outbox.send(place, "hello")
  outbox.over("turn")
  name.resolve()
  await sent
  outbox.resume(new Set())
  await outbox.send(place, "again")
  expect(keys).toEqual(["key 0", "key 1"])
})
