import { expect, test } from "bun:test"
import { createBudget } from "../../src/llm/budget.ts"
import { request } from "./requests.ts"
import { answerOf, entry, fails, ofType, says, setUp } from "./routing.ts"

test("a trip tells the model, passes the events on and ends with stop", async () => {
  const { run } = setUp({ scripts: { a: [says("hi")] } })
  const events = await run()
  expect(events.map((event) => event.type)).toEqual(["model", "text", "usage", "stop"])
  expect(events[0]).toEqual({
    type: "model",
    model: "a",
    provider: "scripted",
    upstream: "main",
    attempt: 1,
  })
})

test("LLM-008: what is bound to one model passes the trip to the next substitute", async () => {
  for (const kind of ["model", "auth"] as const) {
    const { run, waits } = setUp({
      scripts: { a: [fails(kind)], b: [fails(kind)], c: [says("from c")] },
      fallback: ["b", "c"],
    })
    const events = await run()
    expect(answerOf(events)).toBe("from c")
    expect(ofType(events, "fallback")).toEqual([
      { type: "fallback", from: "a", to: "b", reason: `${kind} failure` },
      { type: "fallback", from: "b", to: "c", reason: `${kind} failure` },
    ])
    expect(ofType(events, "failed")).toEqual([])
    expect(waits).toEqual([])
  }
})

test("a transient failure that outlasts its attempts passes on too; the last real failure is told", async () => {
  const { run, asked } = setUp({
    scripts: {
      a: Array.from({ length: 4 }, () => fails("transient")),
      b: [fails("auth", { message: "bad key" })],
    },
    fallback: ["b"],
  })
  const events = await run()
  expect(asked.map((sent) => sent.model)).toEqual(["a", "a", "a", "a", "b"])
  expect(events.at(-1)).toEqual({ type: "failed", failure: { class: "auth", message: "bad key" } })
})

test("refusals, malformed requests and cancels stop at once", async () => {
  for (const kind of ["refused", "fatal", "cancelled"] as const) {
    const { run, asked } = setUp({ scripts: { a: [fails(kind)], b: [] }, fallback: ["b"] })
    expect((await run()).at(-1)).toMatchObject({ type: "failed", failure: { class: kind } })
    expect(asked).toHaveLength(1)
  }
})

test("LLM-004: main model and substitute are served by different upstreams within one trip", async () => {
  const { run } = setUp({
    scripts: { a: [fails("auth")], b: [says("hi")] },
    entries: [entry("b", { upstream: "router" })],
    fallback: ["b"],
  })
  expect(ofType(await run(), "model").map((event) => [event.model, event.upstream])).toEqual([
    ["a", "main"],
    ["b", "router"],
  ])
})

test("LLM-009: the substitute gets a request that was built for it", async () => {
  const { run, asked } = setUp({
    scripts: { a: [fails("model")], b: [says("hi")] },
    entries: [entry("b", { jailbreak: "You are B.", effort: "high" })],
    fallback: ["b"],
  })
  await run({
    buildRequest: ({ entry: { name, jailbreak = "None.", effort = "off" } }) =>
      request("hello", { model: name, system: [{ text: jailbreak }], effort }),
  })
  expect(asked).toMatchObject([
    { model: "a", system: [{ text: "None." }], effort: "off" },
    { model: "b", system: [{ text: "You are B." }], effort: "high" },
  ])
})

test("LLM-010 CTX-28: a substitute with too small a window is passed over for the first that fits", async () => {
  const { run, asked } = setUp({
    scripts: { a: [fails("model")], small: [], fits: [says("hi")], later: [] },
    entries: [entry("small", { contextWindow: 10 }), entry("fits", { contextWindow: 100_000 })],
    fallback: ["small", "fits", "later"],
  })
  expect(answerOf(await run())).toBe("hi")
  expect(asked.map((sent) => sent.model)).toEqual(["a", "fits"])
})

test("LLM-010: when no substitute fits, the failure is an overflow that says what to do", async () => {
  const { run, asked } = setUp({
    scripts: { a: [fails("model", { message: "a is withdrawn" })], small: [] },
    entries: [entry("small", { contextWindow: 10 })],
    fallback: ["small"],
  })
  const [failed] = ofType(await run(), "failed")
  expect(failed?.failure.class).toBe("overflow")
  expect(failed?.failure.message).toMatch(
    /^a is withdrawn\. No substitute has a large enough context window for about \d+ tokens \(small 10\): the history must be folded/,
  )
  expect(asked).toHaveLength(1)
})

test("an overflow is neither repeated nor passed on while the caller can fold", async () => {
  const { run, asked, waits } = setUp({
    scripts: { a: [fails("overflow")], large: [] },
    entries: [entry("large", { contextWindow: 1_000_000 })],
    fallback: ["large"],
  })
  expect((await run()).at(-1)).toMatchObject({ failure: { class: "overflow" } })
  expect([asked.length, waits.length]).toEqual([1, 0])
})

test("when nothing is left to fold, one substitute with a known larger window is asked", async () => {
  const entries = [
    entry("a", { contextWindow: 8000 }),
    entry("same", { contextWindow: 8000 }),
    entry("large", { contextWindow: 100_000 }),
    entry("larger", { contextWindow: 200_000 }),
  ]
  const fallback = ["same", "unknown", "large", "larger"]
  const scripts = () => ({ a: [fails("overflow")], same: [], unknown: [], larger: [] })
  const works = setUp({ scripts: { ...scripts(), large: [says("fits")] }, entries, fallback })
  expect(answerOf(await works.run({ onOverflow: "larger" }))).toBe("fits")

  const again = setUp({ scripts: { ...scripts(), large: [fails("overflow")] }, entries, fallback })
  const events = await again.run({ onOverflow: "larger" })
  expect(events.at(-1)).toMatchObject({ failure: { class: "overflow" } })
  expect(again.asked.map((sent) => sent.model)).toEqual(["a", "large"])
})

test("once text was shown, neither a retry nor a substitute begins the answer again", async () => {
  for (const kind of ["transient", "model"] as const) {
    const { run, asked } = setUp({
      scripts: { a: [[{ type: "text", text: "half an" }, ...fails(kind)]], b: [] },
      fallback: ["b"],
    })
    const events = await run()
    expect(events.map((event) => event.type)).toEqual(["model", "text", "usage", "failed"])
    expect(ofType(events, "usage")[0]?.usage).toMatchObject({
      estimated: true,
      completion_tokens: 2,
    })
    expect(asked).toHaveLength(1)
  }
})

test("usage is priced by the entry; the provider's own cost wins", async () => {
  const usage = {
    prompt_tokens: 1000,
    completion_tokens: 100,
    reasoning_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    cost: null,
  }
  const answer = (cost: number | null) => [
    { type: "usage" as const, usage: { ...usage, cost } },
    ...says("hi"),
  ]
  const { run } = setUp({
    scripts: { a: [answer(null), answer(0.5)] },
    entries: [entry("a", { prices: { in: 3, out: 15 } })],
  })
  expect(ofType(await run(), "usage")[0]?.usage.cost).toBeCloseTo(0.0045)
  expect(ofType(await run(), "usage")[0]?.usage.cost).toBe(0.5)
})

test("a feature that the upstream does not know is left out at once and from then on", async () => {
  const refusal = fails("fatal", {
    status: 400,
    message: "HTTP 400: Unsupported parameter: 'temperature' is not supported with this model.",
  })
  const { run, asked, waits } = setUp({ scripts: { a: [refusal, says("one"), says("two")] } })
  const buildRequest = () => request("hello", { model: "a", temperature: 0.5, cacheTtl: "5m" })
  expect(answerOf(await run({ buildRequest }))).toBe("one")
  expect(answerOf(await run({ buildRequest }))).toBe("two")
  expect(asked.map((sent) => [sent.temperature, sent.cacheTtl, [...(sent.omit ?? [])]])).toEqual([
    [0.5, "5m", []],
    [undefined, "5m", ["temperature"]],
    [undefined, "5m", ["temperature"]],
  ])
  expect(waits).toEqual([])
})

test("a feature that is refused again although left out ends the trip", async () => {
  const refusal = fails("fatal", { status: 400, message: "x", unsupported: "stream_options" })
  const { run, asked } = setUp({ scripts: { a: [refusal, refusal] } })
  expect((await run()).at(-1)).toMatchObject({ failure: { class: "fatal" } })
  expect(asked).toHaveLength(2)
})

test("a cap refuses the wanted model before it is asked, and passes over a substitute", async () => {
  const budget = createBudget({ caps: { day: 1 }, allowUnpriced: false, spent: () => 0 })
  const prices = { in: 3, out: 15 }
  const dear = setUp({
    scripts: { a: [], b: [] },
    entries: [entry("a", { prices: { in: 3, out: 150 } })],
    fallback: ["b"],
    options: { budget },
  })
  expect((await dear.run()).at(-1)).toMatchObject({ failure: { class: "budget" } })
  expect(dear.asked).toEqual([])

  const mixed = setUp({
    scripts: { a: [fails("auth")], unpriced: [], c: [says("hi")] },
    entries: [entry("a", { prices }), entry("c", { prices })],
    fallback: ["unpriced", "c"],
    options: { budget },
  })
  expect(answerOf(await mixed.run())).toBe("hi")
  // Both were released: the same trips fit under the cap again.
  expect(budget.admit({ model: "m", worstCase: 1, spender: {} })).toHaveProperty("release")
})

test("a provider that throws or ends without an end fails in words", async () => {
  const { run } = setUp({ scripts: { a: [] } })
  expect((await run()).at(-1)).toMatchObject({
    failure: { class: "fatal", message: "nothing scripted for a" },
  })
  const silent = setUp({ scripts: { a: Array.from({ length: 4 }, () => []) } })
  expect((await silent.run()).at(-1)).toMatchObject({
    failure: { class: "transient", message: "the stream ended without an end" },
  })
})

test("a model that is not listed is refused with a guess", async () => {
  const { run } = setUp({ scripts: { "claude-large": [] } })
  expect(run({ model: "claude-larg" })).rejects.toThrow(
    "no model claude-larg; did you mean claude-large?",
  )
})
