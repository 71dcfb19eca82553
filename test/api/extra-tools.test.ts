/** Tools that a client declares for one turn and runs itself. */
import { afterEach, describe, expect, test } from "bun:test"
import { ALL_TOOLS, NO_TOOLS } from "../../src/tools/access.ts"
import { snapshot } from "../../src/tools/snapshot.ts"
import { plan } from "../support/kernel.ts"
import { guestIdentity, makeTool, reachTurn, registryOf } from "../support/tools.ts"
import { type Asked, type ClientOptions, scriptedClient } from "./scripted-client.ts"
import { type TestApi, testApi } from "./support.ts"

const SKIP = {
  name: "telegram_skip",
  description: "Say nothing.",
  input_schema: { type: "object", properties: { reason: { type: "string" } } },
}

let api: TestApi | undefined
afterEach(async () => {
  await api?.dispose()
  api = undefined
})

async function start(answer?: ClientOptions["answer"]) {
  const server = await testApi()
  api = server
  const chat = await server.newChat()
  const client = await scriptedClient({ api: server, chat, ...(answer && { answer }) })
  const path = `POST /v1/chats/${chat}/messages`
  const turn = (extra_tools: object[], more: object = {}) =>
    server.open(path, {
      text: plan([{ call: "telegram_skip", input: { reason: "not for me" } }, { say: "said" }]),
      extra_tools,
      ...more,
    })
  return { ...server, ...client, chat, path, turn }
}

const resultsOf = (frames: readonly { data: Asked }[]): Asked[] =>
  frames.map(({ data }) => data).filter((event) => event?.type === "tool_result")

describe("an extra tool", () => {
  test("XT-1 XT-2 XT-8 API-060 SSE-008: stands above the registry for one turn, and its call goes to the client that declared it", async () => {
    const { turn, sees, kernel, path, open, chat } = await start(() => ({ output: "quiet" }))
    const stream = await turn([SKIP])
    const { id } = await sees("tool_call")
    const { seq: _seq, turn_id: _turn, ...event } = await sees("extra_tool_call")
    expect(event).toEqual({
      ...{ type: "extra_tool_call", id, name: "telegram_skip", input: { reason: "not for me" } },
      chat_id: chat,
    })
    const frames = await stream.toEnd()
    expect(resultsOf(frames)).toMatchObject([{ id, output: "quiet", is_error: false }])
    expect(frames.at(-1)!.data).toMatchObject({ type: "done", reason: "done" })
    const offered = () => kernel.requests.at(-1)!.tools.map(({ name }) => name)
    expect(offered().at(-1)).toBe("telegram_skip")
    expect(kernel.requests).toHaveLength(2)
    await (await open(path, { text: "next" })).toEnd()
    expect(offered()).not.toContain("telegram_skip")
  })

  test("XT-4 OPS-014: blocks of an answer become sections", async () => {
    const blocks = [
      { title: "first", content: "1" },
      { title: "second", content: "2" },
    ]
    const { turn } = await start(() => ({ blocks }))
    const results = resultsOf(await (await turn([SKIP])).toEnd())
    expect(results).toMatchObject([{ output: "== first\n1\n\n== second\n2" }])
  })

  test("XT-5: as a verdict its success closes the turn; its failure does not", async () => {
    const verdict = { ...SKIP, ends_turn: true }
    let answer: object = { output: "quiet" }
    const { turn, kernel } = await start(() => answer)
    const closed = await (await turn([verdict])).toEnd()
    expect(closed.at(-1)!.data).toMatchObject({ type: "done", reason: "done" })
    expect(kernel.requests).toHaveLength(1)
    answer = { error: "cannot skip" }
    const open = await (await turn([verdict])).toEnd()
    expect(resultsOf(open)).toMatchObject([{ is_error: true, output: "cannot skip" }])
    expect(kernel.requests).toHaveLength(3)
  })

  test("XT-3 OPS-015: without an answer within its declared time it is an error for the model", async () => {
    const { turn, sees } = await start()
    const stream = await turn([{ ...SKIP, timeout_secs: 0.05 }])
    const { id } = await sees("extra_tool_call")
    expect(await sees("request_resolved")).toMatchObject({ id, kind: "op", reason: "expired" })
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      { is_error: true, output: expect.stringContaining("got no answer within") },
    ])
  })

  test("XT-6 API-060 S-13: a name of the registry, a name twice, a limit over 900 s and a schema of no object are refused before anything is stored", async () => {
    const { call, path, chat } = await start()
    const refused = async (extra_tools: object[]) => {
      const { status, json } = await call(path, { text: "hi", extra_tools })
      return [status, json.path]
    }
    expect(await refused([{ ...SKIP, name: "person_list" }])).toEqual([400, "extra_tools.0.name"])
    expect(await refused([SKIP, SKIP])).toEqual([400, "extra_tools.1.name"])
    expect(await refused([{ ...SKIP, timeout_secs: 901 }])).toEqual([
      ...[400, "extra_tools.0.timeout_secs"],
    ])
    expect(await refused([{ ...SKIP, input_schema: { type: "string" } }])).toEqual([
      ...[400, "extra_tools.0.input_schema"],
    ])
    expect((await call(`GET /v1/chats/${chat}/messages`)).json.messages).toEqual([])
  })

  test("S-13: 900 s are allowed, and 120 s are waited when nothing is said", async () => {
    const { turn, call, sees } = await start(() => ({ output: "x" }))
    await (await turn([{ ...SKIP, timeout_secs: 900 }])).toEnd()
    expect(await sees("request_resolved")).toMatchObject({ kind: "op" })
    const document = (await call("GET /v1/openapi.json")).text
    expect(document).toContain("120 when absent, 900 at the most")
  })

  test("XT-7: who joins late draws the call and does not run it; its end is told", async () => {
    const { turn, sees, open, chat, post } = await start()
    const stream = await turn([SKIP])
    const { id } = await sees("extra_tool_call")
    const late = await open(`GET /v1/chats/${chat}/live`)
    expect((await late.next("extra_tool_call")).data).toMatchObject({ id, replayed: true })
    await post({ id, output: "quiet" })
    expect((await late.next("request_resolved")).data).toMatchObject({ id, reason: "answered" })
    await late.toEnd()
    await stream.toEnd()
  })

  test("XT-9: no list, set or curation takes it out of sight, and no later tool takes its name", () => {
    const own = makeTool({ name: "telegram_skip" })
    const late = makeTool({ name: "telegram_skip", group: "late", gates: ["master_only"] })
    for (const turn of [
      reachTurn({ curated: NO_TOOLS }),
      reachTurn({ toolset: NO_TOOLS, onDemand: ["extra"] }),
      reachTurn({
        identity: guestIdentity(),
        access: [{ source: "request", access: NO_TOOLS }],
      }),
      reachTurn({ access: [{ source: "chat", access: ALL_TOOLS }] }),
    ]) {
      const { specs, resolve } = snapshot(registryOf(late), turn, [own])
      expect(specs.map(({ name }) => name)).toEqual(["telegram_skip"])
      expect(resolve("telegram_skip")).toEqual({ tool: own })
    }
  })
})
