import { expect, test } from "bun:test"
import { answerOf, fails, ofType, policy, says, setUp } from "./routing.ts"

test("LLM-005: a transient failure is repeated on the same model after growing waits", async () => {
  const { run, asked, waits } = setUp({
    scripts: { a: [fails("transient"), [], fails("transient"), says("hi")], b: [] },
    fallback: ["b"],
  })
  const events = await run()
  expect(answerOf(events)).toBe("hi")
  expect(asked.map((sent) => sent.model)).toEqual(["a", "a", "a", "a"])
  // Half of 500, 1000 and 2000 ms, and half of the other half by chance.
  expect(waits).toEqual([375, 750, 1500])
  expect(ofType(events, "retrying")[1]).toEqual({
    type: "retrying",
    model: "a",
    waitMs: 750,
    attempt: 3,
    reason: "the stream ended without an end",
  })
})

test("LLM-006: the request is repeated after a thought, never after text, a call or a picture", async () => {
  const thought = { type: "thinking" as const, text: "hm" }
  const again = setUp({ scripts: { a: [[thought, ...fails("transient")], says("hi")] } })
  expect((await again.run()).map((event) => event.type)).toEqual([
    "model",
    "thinking",
    "retrying",
    "usage",
    "model",
    "text",
    "usage",
    "stop",
  ])
  for (const shown of [
    { type: "text" as const, text: "half" },
    { type: "tool_call" as const, index: 0, id: "c", name: "clock", arguments: "{" },
    { type: "image" as const, mediaType: "image/png", base64: "AA" },
  ]) {
    const { run, asked } = setUp({ scripts: { a: [[shown, ...fails("transient")]] } })
    expect((await run()).at(-1)).toMatchObject({ failure: { class: "transient" } })
    expect(asked).toHaveLength(1)
  }
})

test("an answer that nobody saw may be begun anew", async () => {
  const half = [{ type: "text" as const, text: "half" }, ...fails("transient")]
  const { run } = setUp({ scripts: { a: [half, says("whole")] } })
  const events = await run({ unseen: true })
  expect(events.findLastIndex((event) => event.type === "model")).toBeGreaterThan(
    events.findIndex((event) => event.type === "text"),
  )
  expect(answerOf(events)).toBe("halfwhole")
})

test("an overflow is not repeated on its model", async () => {
  const { run, asked } = setUp({ scripts: { a: [fails("overflow")] } })
  expect((await run()).at(-1)).toMatchObject({ failure: { class: "overflow" } })
  expect(asked).toHaveLength(1)
})

test("the wait that the upstream names is a floor, for every chat that uses it", async () => {
  const { run, clock } = setUp({
    scripts: {
      a: [fails("transient", { status: 429, retryAfterMs: 90_000 }), says("one"), says("two")],
    },
  })
  const start = clock.now()
  const [first, second] = await Promise.all([run(), run()])
  expect(answerOf(first) + answerOf(second)).toHaveLength(6)
  expect(ofType(first, "retrying")[0]?.waitMs).toBe(90_000)
  expect(clock.now() - start).toBeGreaterThanOrEqual(90_000)
})

test("a wait beyond the limit is a clear stop, and others do not even ask", async () => {
  const { run, asked, waits } = setUp({
    scripts: {
      a: [fails("transient", { status: 429, message: "slow down", retryAfterMs: 300_000 })],
    },
  })
  const message =
    "slow down (the wait of 300 s would pass the limit of 120 s for repeating a request)"
  expect((await run()).at(-1)).toMatchObject({ failure: { class: "transient", message } })
  expect((await run()).at(-1)).toMatchObject({ failure: { class: "transient" } })
  expect(asked).toHaveLength(1)
  expect(waits).toEqual([])
})

test("a cancel ends the wait", async () => {
  const cancel = new AbortController()
  const { run, asked } = setUp({
    scripts: { a: [fails("transient")] },
    options: {
      sleep: async () => cancel.abort(),
      policy: { ...policy, firstDelayMs: 60_000 },
    },
  })
  expect((await run({ signal: cancel.signal })).at(-1)).toMatchObject({
    failure: { class: "cancelled" },
  })
  expect(asked).toHaveLength(1)
})
