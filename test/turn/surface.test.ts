import { afterEach, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import type { Images } from "../../src/images/images.ts"
import { deferred } from "../../src/lib/async.ts"
import { createLog } from "../../src/lib/log.ts"
import type { Tool, ToolContext } from "../../src/tools/tool.ts"
import {
  plan,
  type TestKernel,
  type TestKernelOptions,
  testKernel,
  texts,
} from "../support/kernel.ts"

let kernel: TestKernel
const start = async (options: TestKernelOptions = {}): Promise<string> => {
  kernel = await testKernel(options)
  return kernel.newChat()
}
afterEach(() => kernel.dispose())

const probe = (seen: ToolContext[], more: Partial<Tool> = {}): Tool => ({
  ...{ name: "probe", group: "surface", description: "Probe.", gates: [], traits: {} },
  input: Type.Object({}),
  run: async (context) => {
    seen.push(context)
    return { output: "probed" }
  },
  ...more,
})

test("SURF-002: an anchor marks the turn as an answer, travels to tools as it came, and means nothing to the kernel", async () => {
  const seen: ToolContext[] = []
  const chat = await start()
  kernel.api.registry.register(probe(seen))
  const anchor = "любой:{непрозрачный} якорь/42"
  await kernel.turn(chat, { text: plan([{ call: "probe" }, { say: "x" }]), anchor })
  await kernel.turn(chat, plan([{ call: "probe" }, { say: "x" }], "again"))
  expect(seen.map((context) => [context.anchor, context.identity.anchored])).toEqual([
    [anchor, true],
    [undefined, false],
  ])
  expect(kernel.api.messages.page(chat, {})[0]!.anchor).toBe(anchor)
})

test("SURF-003: an anchored-only tool is neither offered nor run without an anchor", async () => {
  const seen: ToolContext[] = []
  const chat = await start()
  kernel.api.registry.register(probe(seen, { gates: ["anchored_only"] }))
  const text = plan([{ call: "probe" }, { say: "x" }])
  const without = await kernel.turn(chat, text)
  expect(kernel.requests[0]!.tools.map((tool) => tool.name)).not.toContain("probe")
  expect(without.find((event) => event.type === "tool_result")).toMatchObject({ is_error: true })
  await kernel.turn(chat, { text, anchor: "a" })
  expect(kernel.requests[2]!.tools.map((tool) => tool.name)).toContain("probe")
  expect(seen).toHaveLength(1)
})

test("SURF-006 CACHE-14: prompt_cache_telegram changes the cache of anchored turns only, and off silences it there", async () => {
  const chat = await start({ config: { llm: { prompt_cache: "5m", prompt_cache_telegram: "1h" } } })
  await kernel.turn(chat, "plain")
  await kernel.turn(chat, { text: "anchored", anchor: "a" })
  expect(kernel.requests.map((request) => request.cacheTtl)).toEqual(["5m", "1h"])
  await kernel.dispose()
  const other = await start({
    config: { llm: { prompt_cache: "5m", prompt_cache_telegram: "off" } },
  })
  await kernel.turn(other, "plain")
  await kernel.turn(other, { text: "anchored", anchor: "a" })
  expect(kernel.requests.map((request) => request.cacheTtl)).toEqual(["5m", undefined])
})

test("SEC-34: a client's context reaches the system part from a trusted client only, cut in the middle past its limit", async () => {
  const chat = await start()
  await kernel.turn(chat, { text: "a", context: "CLIENT SAYS" })
  await kernel.turn(chat, { text: "b", context: "CLIENT SAYS", trusted: true })
  await kernel.turn(chat, { text: "c", context: `${"x".repeat(40_000)}END`, trusted: true })
  const systems = kernel.requests.map((request) => request.system[0]!.text)
  expect(systems[0]).not.toContain("CLIENT SAYS")
  expect(systems[1]).toContain("[client context]\nCLIENT SAYS")
  expect(systems[2]).toContain("[middle cut: 8003 chars of 40003]")
  expect(systems[2]).toContain("END")
})

test("STAT-19: version and git revision are a line of the system prompt", async () => {
  const chat = await start()
  await kernel.turn(chat, "hi")
  const { version, commit } = kernel.api.build
  expect(kernel.requests[0]!.system[0]!.text).toContain(`[build] eva-kernel ${version} (${commit})`)
})

test("SSE-006: progress is a snapshot that replaces the one before, masked, never stored", async () => {
  const secret = "configured-token-1234567890"
  const chat = await start({ config: { server: { token: secret } } })
  kernel.api.registry.register(
    probe([], {
      run: async (context) => {
        context.progress("first")
        context.progress(`second ${secret}`)
        await new Promise((resolve) => setTimeout(resolve, 600))
        return { output: `done ${secret}` }
      },
    }),
  )
  const events = await kernel.turn(chat, plan([{ call: "probe" }, { say: "x" }]))
  const progress = events.filter((event) => event.type === "tool_progress")
  expect(progress.at(-1)).toMatchObject({ output: "second [redacted: configured secret]" })
  expect(
    events.filter((event) => event.type === "item_delta" && event.delta.progress !== undefined),
  ).toHaveLength(progress.length)
  const stored = JSON.stringify(kernel.api.messages.page(chat, {}))
  expect(stored).not.toContain("second")
  expect(stored).not.toContain(secret)
  expect(stored).toContain("done [redacted: configured secret]")
})

test("SSE-015: a picture that the model draws is kept, told by its id and address, and shown to later turns as a mark", async () => {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
  const bodies: { messages: unknown[]; modalities?: string[] }[] = []
  const upstream = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      bodies.push((await request.json()) as (typeof bodies)[number])
      const delta = {
        content: "here",
        images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }],
      }
      const frame = (choice: object) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`
      return new Response(
        `${frame({ delta })}${frame({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`,
        {
          headers: { "content-type": "text/event-stream" },
        },
      )
    },
  })
  try {
    const llm = {
      ...{ provider: "openai", base_url: `http://127.0.0.1:${upstream.port}/v1`, api_key: "k" },
      models: [{ name: "mock", image_output: true }],
    }
    const chat = await start({ config: { llm, images: { base_url: "https://eva.example" } } })
    const events = await kernel.turn(chat, "draw a dot")
    const image = events.find((event) => event.type === "image")!
    expect(image).toEqual({
      type: "image",
      id: expect.any(String),
      media_type: "image/png",
      url: `https://eva.example/images/${image.id}`,
    })
    const kept = await kernel.api.images.read(image.id)
    expect(Buffer.from(await kept!.file.bytes()).toString("base64")).toBe(png)
    expect(texts(await kernel.turn(chat, "and again"))).toBe("here")
    expect(bodies[0]!.modalities).toEqual(["image", "text"])
    expect(JSON.stringify(bodies[1]!.messages)).toContain(
      `[image ${image.id}] https://eva.example/images/${image.id}`,
    )
    expect(JSON.stringify(bodies[1]!.messages)).not.toContain(png)
  } finally {
    await upstream.stop(true)
  }
})

test("SSE-011: usage carries tokens, thinking, cache and cost of each trip by the model's prices", async () => {
  const models = [{ name: "mock", price_in: 1, price_out: 10, price_cache_read: 0.1 }]
  const chat = await start({ config: { llm: { models } } })
  const usage = {
    prompt_tokens: 1_000_000,
    completion_tokens: 100_000,
    reasoning_tokens: 50_000,
    cached_tokens: 500_000,
  }
  const events = await kernel.turn(chat, plan([{ say: "x", usage }]))
  expect(events.find((event) => event.type === "usage")).toMatchObject({
    ...usage,
    cache_write_tokens: 0,
    model: "mock",
    cost: 0.5 + 0.05 + 1,
  })
  const spend = await kernel.api.spend.ofChat(chat, { tokens: 0, prefix_tokens: null })
  expect(spend.total).toMatchObject({ cost: 1.55, reasoning_cost: 0.5 })
})

test("BOOT-034: pictures whose time is over are purged at start", async () => {
  await start()
  const { folder } = kernel
  const images = kernel.api.images as Images
  const drawn = await images.keepDrawn({
    bytes: Buffer.from("R0lGODlhAQABAAAAACw=", "base64"),
  })
  expect(await kernel.api.images.read(drawn.id)).toBeDefined()
  await kernel.close(0)
  const later = Date.now() + 31 * 24 * 3600 * 1000
  const { promise: purged, resolve } = deferred()
  const log = createLog({
    level: "info",
    human: false,
    write: (line) => line.includes("expired pictures purged") && resolve(),
  })
  const clock = { now: () => later, monotonic: () => performance.now() }
  kernel = await testKernel({ folder, log, clock })
  await purged
  expect(await Bun.file(`${folder}/images/${drawn.id}`).exists()).toBe(false)
})

test("SEC-10 TURN-064: a header that the model writes itself reaches neither clients nor history of a turn with headers", async () => {
  const chat = await start()
  const said = "[msg 12 · reply_to msg 7]\n[#43 14:05 p7 Anna]\nHello."
  const told = async (anchor: string | undefined) => {
    const body = { text: plan([{ say: said }]), ...(anchor !== undefined && { anchor }) }
    const events = await kernel.turn(chat, body)
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []))
    return { deltas: deltas.join(""), stored: kernel.api.messages.page(chat, {}).at(-1)!.blocks }
  }
  expect(await told("telegram:1:2")).toEqual({
    deltas: "Hello.",
    stored: [{ type: "text", text: "Hello." }],
  })
  expect(await told(undefined)).toEqual({
    deltas: said,
    stored: [{ type: "text", text: said }],
  })
})
