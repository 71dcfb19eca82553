/** Event streams by themselves: order, muting, heartbeats, clients that leave, and clients that do not read. */
import { afterEach, expect, test } from "bun:test"
import { connect } from "node:net"
import { createStreams, type StreamOptions } from "../../src/api/stream.ts"
import type { EventStream } from "../../src/api/stream-client.ts"
import type { Emission } from "../../src/events/bus.ts"
import { eventually, framesOf, typesOf } from "./support.ts"

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

let seq = 0
const emission = (type: string, text = ""): Emission => {
  seq++
  return { seq, chatId: "c", turnId: "t", type, json: JSON.stringify({ type, text, seq }) }
}

/** A server with one stream; each request adds a client to `clients`. */
function serve(limits: Parameters<typeof createStreams>[0], options: Partial<StreamOptions> = {}) {
  const streams = createStreams(limits)
  const clients: EventStream[] = []
  let detached = 0
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, server) => {
      server.timeout(request, 0)
      return streams.open({ ...options, request }, (stream) => {
        clients.push(stream)
        return () => detached++
      })
    },
  })
  stops.push(() => server.stop(true))
  return {
    streams,
    clients,
    server,
    detached: () => detached,
    open: async () => framesOf(await fetch(server.url)),
  }
}

test("frames come in order, whole, and in few pieces", async () => {
  const { clients, open, streams } = serve({})
  const opening = open()
  await eventually(() => clients.length === 1)
  for (let i = 0; i < 1000; i++) clients[0]!.push(emission("text_delta", `piece ${i} — Привет`))
  clients[0]!.end()
  const seen = await (await opening).toEnd()
  expect(seen.map((frame) => frame.data.text)).toEqual(
    Array.from({ length: 1000 }, (_, i) => `piece ${i} — Привет`),
  )
  expect(seen.every((frame) => frame.id === undefined)).toBe(true)
  expect(streams.count()).toBe(0)
})

test("muted types are left out; done and error cannot be muted, unknown names do nothing", async () => {
  const mute = ["text_delta", "done", "error", "no_such_event"]
  const { clients, open } = serve({}, { mute })
  const opening = open()
  await eventually(() => clients.length === 1)
  for (const type of ["text_delta", "usage", "error", "done"]) clients[0]!.push(emission(type))
  clients[0]!.end()
  expect(typesOf(await (await opening).toEnd())).toEqual(["usage", "error", "done"])
})

test("a silent stream beats and stays open", async () => {
  const { clients, open } = serve({ heartbeatMs: 10 })
  const opening = open()
  await eventually(() => clients.length === 1)
  const frames = await opening
  await frames.until(() => frames.comments() >= 3)
  clients[0]!.push(emission("done"))
  expect((await frames.next("done")).data.type).toBe("done")
  await frames.leave()
})

test("a client that leaves is forgotten, once, and pushing to it goes nowhere", async () => {
  const { clients, open, streams, detached } = serve({ heartbeatMs: 10 })
  const opening = open()
  await eventually(() => clients.length === 1)
  const frames = await opening
  await frames.until(() => frames.comments() > 0)
  expect(streams.count()).toBe(1)
  await frames.leave()
  await eventually(() => streams.count() === 0)
  clients[0]!.push(emission("text_delta"))
  clients[0]!.end()
  await Bun.sleep(30)
  expect(detached()).toBe(1)
})

/** A client that asks and never reads. */
function deafClient(url: URL) {
  const socket = connect(Number(url.port), url.hostname, () => {
    socket.pause()
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
  })
  socket.on("error", () => {})
  stops.push(() => socket.destroy())
  return socket
}

test("a client that does not read is dropped at the limit, and others are served", async () => {
  const { clients, open, server, streams } = serve({ queueBytes: 256 * 1024 })
  deafClient(server.url)
  await eventually(() => clients.length === 1)
  const opening = open()
  await eventually(() => clients.length === 2)
  const before = process.memoryUsage.rss()
  const text = "x".repeat(10_000)
  let pushed = 0
  while (streams.count() === 2 && pushed < 20_000) {
    const one = emission("text_delta", text)
    for (const client of clients) client.push(one)
    pushed++
    await Bun.sleep(0)
  }
  expect(streams.count()).toBe(1)
  clients[1]!.push(emission("done"))
  const frames = await opening
  expect((await frames.next("done")).data.type).toBe("done")
  expect(frames.seen.filter((frame) => frame.data.type === "text_delta")).toHaveLength(pushed)
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024)
  await frames.leave()
})

test("one event longer than the limit reaches a client that reads, with what follows at once", async () => {
  const { clients, open } = serve({ queueBytes: 1000 })
  const opening = open()
  await eventually(() => clients.length === 1)
  clients[0]!.push(emission("text_delta", "a"))
  clients[0]!.push(emission("item_completed", "b".repeat(2_000_000)))
  clients[0]!.push(emission("done"))
  clients[0]!.end()
  const seen = await (await opening).toEnd()
  expect(typesOf(seen)).toEqual(["text_delta", "item_completed", "done"])
  expect(seen[1]!.data.text).toHaveLength(2_000_000)
})

test("a long replay is no reason to drop a client", async () => {
  const streams = createStreams({ queueBytes: 10_000 })
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      streams.open({ request }, (stream) => {
        for (let i = 0; i < 50; i++) stream.push(emission("tool_result", "y".repeat(20_000)))
        stream.push(emission("done"))
        stream.end()
        return () => {}
      }),
  })
  stops.push(() => server.stop(true))
  const frames = framesOf(await fetch(server.url))
  expect(await frames.toEnd()).toHaveLength(51)
})

test("a client with frames waiting that takes none for a minute of heartbeats is dropped", async () => {
  const { clients, server, streams } = serve({ heartbeatMs: 5, queueBytes: 64 * 1024 * 1024 })
  deafClient(server.url)
  await eventually(() => clients.length === 1)
  for (let i = 0; i < 2000; i++) clients[0]!.push(emission("text_delta", "z".repeat(10_000)))
  await eventually(() => streams.count() === 0)
})

test("with ids every frame bears its number, also a fresh start and a reset", async () => {
  const { clients, open } = serve({}, { withIds: true })
  const opening = open()
  await eventually(() => clients.length === 1)
  clients[0]!.position(41)
  clients[0]!.reset(42)
  clients[0]!.push({ seq: 43, chatId: "c", turnId: undefined, type: "x", json: '{"type":"x"}' })
  clients[0]!.end()
  expect(await (await opening).toEnd()).toEqual([
    { id: "41", data: undefined },
    { id: "42", data: { type: "reset", seq: 42 } },
    { id: "43", data: { type: "x" } },
  ])
})
