/** Questions with buttons: asked by a tool, drawn from its call, answered over HTTP. */
import { afterEach, describe, expect, test } from "bun:test"
import { deferred } from "../../src/lib/async.ts"
import { ToolFailure } from "../../src/tools/tool.ts"
import { plan } from "../support/kernel.ts"
import { makeTool } from "../support/tools.ts"
import { type Asked, scriptedClient } from "./scripted-client.ts"
import { type TestApi, type TestApiOptions, testApi } from "./support.ts"

const COLOUR = { question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] }
const SIZES = {
  question: "Which sizes?",
  multi: true,
  options: [{ label: "S", description: "small" }, { label: "M" }, { label: "L" }],
}
const DECISIONS = ["discuss", "answer_in_text"]

let api: TestApi | undefined
afterEach(async () => {
  await api?.dispose()
  api = undefined
})

async function start(options: TestApiOptions = {}) {
  const server = await testApi(options)
  api = server
  const chat = await server.newChat()
  const { sees, seen } = await scriptedClient({ api: server, chat })
  const path = `/v1/chats/${chat}`
  const asks = (...calls: object[][]) =>
    plan([
      { calls: calls.map((questions) => ({ name: "ask_questions", input: { questions } })) },
      { say: "done" },
    ])
  const turn = (text: string, more: object = { trusted: true }) =>
    server.open(`POST ${path}/messages`, { text, ...more })
  const answer = (body: object) => server.call(`POST ${path}/questions/answer`, body)
  return { ...server, chat, path, sees, seen, asks, turn, answer }
}

const resultsOf = (frames: readonly { data: Asked }[]): Asked[] =>
  frames.map(({ data }) => data).filter((event) => event?.type === "tool_result")
const isAsking = ({ name }: Asked): boolean => name === "ask_questions"

describe("ask_questions", () => {
  test("TASK-1 TASK-3 TASK-4 SURF-008 API-064: the turn waits in the call, and numbers stay whatever was answered before", async () => {
    const { asks, turn, sees, answer } = await start()
    const stream = await turn(asks([COLOUR, SIZES]))
    const { id } = await sees("tool_call", isAsking)
    const first = await answer({ question: 0, answer: "red" })
    expect([first.status, first.json]).toEqual([200, { id }])
    expect((await answer({ question: 0, answer: "blue" })).status).toBe(404)
    await answer({ question: 1, answer: { chosen: ["S", "L"], text: "and a scarf" } })
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      {
        is_error: false,
        output: "== Which colour?\nred\n\n== Which sizes?\nS\nL\nand a scarf",
      },
    ])
  })

  test("TASK-2 SURF-007: it is there on every surface, in the group ask, for whoever is no guest", async () => {
    const { call } = await start()
    const { tools } = (await call("GET /v1/tools")).json
    const tool = tools.find(isAsking)
    expect(tool).toMatchObject({ group: "ask", privileged_only: true })
    expect(tool.input_schema.properties.questions).toMatchObject({ minItems: 1, maxItems: 3 })
  })

  test("a guest's turn does not ask: it is refused with who could", async () => {
    const { asks, turn } = await start()
    const stream = await turn(asks([COLOUR]), { guest: true })
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      { is_error: true, output: expect.stringContaining("users on the allow list") },
    ])
  })

  test("four questions, or one option, are no choice: the model is told", async () => {
    const { asks, turn, sees } = await start()
    const single = { ...COLOUR, options: [{ label: "red" }] }
    const stream = await turn(asks([COLOUR, COLOUR, COLOUR, COLOUR], [single]))
    const results = resultsOf(await stream.toEnd())
    expect(results.map(({ is_error }) => is_error)).toEqual([true, true])
    await sees("done")
  })

  test("TASK-5 API-064: a call id tells calls of one chat apart; without it the earliest that waits is meant", async () => {
    const { asks, turn, seen, answer, sees } = await start()
    const stream = await turn(asks([COLOUR], [SIZES]))
    await sees("item_started", ({ item }) => item.input?.questions?.[0].multi)
    const ids = seen
      .filter(({ data }) => data?.type === "tool_call")
      .map(({ data }) => data.id as string)
    expect((await answer({ question: 1, answer: "x" })).status).toBe(404)
    expect((await answer({ question: 0, answer: { chosen: ["M"] }, call_id: ids[1] })).status).toBe(
      200,
    )
    expect((await answer({ question: 0, answer: "blue" })).json).toEqual({ id: ids[0] })
    expect((await answer({ question: 0, answer: "blue" })).status).toBe(404)
    const outputs = resultsOf(await stream.toEnd()).map(({ output }) => output)
    expect(outputs.sort()).toEqual(["== Which colour?\nblue", "== Which sizes?\nM"])
  })

  test("it waits from the moment that its card is seen, also behind a tool that takes long", async () => {
    const { turn, sees, answer, kernel } = await start()
    const slow = deferred()
    const run = () => slow.promise.then(() => ({ output: "at last" }))
    kernel.api.registry.register(makeTool({ name: "slow", run }))
    const ask = { name: "ask_questions", input: { questions: [COLOUR] } }
    const stream = await turn(plan([{ calls: [{ name: "slow" }, ask] }, { say: "done" }]))
    await sees("tool_call", isAsking)
    expect((await answer({ question: 0, answer: "red" })).status).toBe(200)
    await sees("tool_result", ({ output }) => output === "== Which colour?\nred")
    slow.resolve()
    expect((await stream.toEnd()).at(-1)!.data).toMatchObject({ type: "done", reason: "done" })
    const { messages } = kernel.requests.at(-1)!
    const results = messages.flatMap(({ blocks }) => blocks.filter((b) => b.type === "tool_result"))
    expect(results.map(({ output }) => output)).toEqual(["at last", "== Which colour?\nred"])
  })

  test("a fault that ends the turn does not wait for its answer", async () => {
    const { turn, sees, kernel } = await start()
    const run = () => Promise.reject(new ToolFailure("the kernel is stopping", { scope: "turn" }))
    kernel.api.registry.register(makeTool({ name: "fatal", run }))
    const ask = { name: "ask_questions", input: { questions: [COLOUR] } }
    const stream = await turn(plan([{ calls: [ask, { name: "fatal" }] }, { say: "never" }]))
    const frames = await stream.toEnd()
    expect(frames.at(-1)!.data).toMatchObject({ type: "error", code: "tool" })
    expect(resultsOf(frames)).toHaveLength(2)
    expect(await sees("request_resolved")).toMatchObject({ reason: "turn_ended", question: 0 })
  })

  test("TASK-7 ITM-012: the decisions that may be taken instead ride in event and item, and neither in the history nor before the model", async () => {
    const { asks, turn, sees, answer, call, path, kernel } = await start()
    const stream = await turn(asks([COLOUR]))
    const shown = { questions: [COLOUR], decisions: DECISIONS }
    expect((await sees("tool_call", isAsking)).input).toEqual(shown)
    const started = await sees("item_started", ({ item }) => isAsking(item))
    expect(started.item.input).toEqual(shown)
    await answer({ question: 0, decision: "discuss" })
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      { is_error: false, output: expect.stringContaining("talk about it first") },
    ])
    const { items } = (await call(`GET ${path}/items`)).json
    expect(items.find(isAsking).input).toEqual(shown)
    const { messages } = (await call(`GET ${path}/messages`)).json
    const stored = messages.flatMap(({ blocks }: Asked) => blocks).find(isAsking)
    expect(stored.input).toEqual({ questions: [COLOUR] })
    const sent = JSON.stringify(
      kernel.requests.at(-1)!.messages.filter(({ role }) => role === "assistant"),
    )
    expect(sent).toContain("Which colour?")
    expect(sent).not.toContain("answer_in_text")
  })

  test("an answer that does not fit is refused in words, and the question goes on waiting", async () => {
    const { asks, turn, sees, answer } = await start()
    const stream = await turn(asks([COLOUR]))
    await sees("tool_call", isAsking)
    for (const wrong of [
      { answer: { chosen: ["red", "blue"] } },
      { answer: { chosen: ["green"] } },
      { answer: {} },
      {},
      { answer: "red", decision: "discuss" },
    ]) {
      const reply = await answer({ question: 0, ...wrong })
      expect([reply.status, reply.json.path]).toEqual([400, "answer"])
    }
    await answer({ question: 0, decision: "answer_in_text" })
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      { output: expect.stringContaining("with the next message") },
    ])
  })
})

describe("a question that is not answered", () => {
  test("TASK-6 SURF-007 S-14: expires after tools.ask_ttl, and the turn goes on without", async () => {
    const { asks, turn, sees, kernel } = await start({ config: { tools: { ask_ttl: "50ms" } } })
    const stream = await turn(asks([COLOUR]))
    const { id } = await sees("tool_call", isAsking)
    expect(await sees("request_resolved")).toMatchObject({
      id,
      kind: "question",
      reason: "expired",
    })
    const frames = await stream.toEnd()
    expect(resultsOf(frames)).toMatchObject([
      { is_error: false, output: expect.stringContaining("Nobody answered in time") },
    ])
    expect(frames.at(-1)!.data).toMatchObject({ type: "done", reason: "done" })
    expect(kernel.api.config.tools.ask_ttl).toBe(50)
  })

  test("S-14: by default it waits ten minutes", async () => {
    const { kernel } = await start()
    expect(kernel.api.config.tools.ask_ttl).toBe(600_000)
  })

  test("TASK-9 TASK-10: each is settled by the id of its call and its number", async () => {
    const { asks, turn, sees, answer } = await start()
    const stream = await turn(asks([COLOUR, SIZES]))
    const { id } = await sees("tool_call", isAsking)
    await answer({ question: 1, answer: "M" })
    const { seq: _seq, chat_id: _chat, turn_id: _turn, ...event } = await sees("request_resolved")
    expect(event).toEqual({
      ...{ type: "request_resolved", id, kind: "question", reason: "answered", question: 1 },
    })
    await answer({ question: 0, answer: "red" })
    expect(await sees("request_resolved", ({ question }) => question === 0)).toMatchObject({ id })
    await stream.toEnd()
  })

  test("TURN-014 TASK-8: a cancel leaves a cut in the history and no answer in anybody's name", async () => {
    const { asks, turn, sees, call, path, answer } = await start()
    const stream = await turn(asks([COLOUR, SIZES]))
    const { id } = await sees("tool_call", isAsking)
    await answer({ question: 0, answer: "red" })
    await call(`POST ${path}/cancel`)
    const resolved = await sees("request_resolved", ({ question }) => question === 1)
    expect(resolved).toMatchObject({ id, reason: "cancelled" })
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      { is_error: true, output: "[not executed: turn cancelled]" },
    ])
    const { messages } = (await call(`GET ${path}/messages`)).json
    expect(messages.map(({ role }: Asked) => role)).toEqual(["user", "assistant", "user"])
    expect(JSON.stringify(messages.at(-1))).not.toContain("red")
    expect((await answer({ question: 1, answer: "M" })).status).toBe(404)
  })
})
