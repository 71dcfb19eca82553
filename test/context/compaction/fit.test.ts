/** A history larger than the model's window: folded before the request, or at once when the provider says so. */
import { afterEach, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import type { Tool } from "../../../src/tools/tool.ts"
import { plan, recordedLog, texts } from "../../support/kernel.ts"
import { type FoldRig, foldRig, isMark, spokenIn, stateOf, stored, wordy } from "./rig.ts"

/** Finds 800 tokens each time. */
const DIG: Tool = {
  ...{ name: "dig", group: "test", description: "Digs.", gates: [], traits: {} },
  input: Type.Object({}),
  run: async () => ({ output: wordy("finding", 800) }),
}

let rig: FoldRig
afterEach(() => rig.kernel.dispose())

/** Windows in tokens; the prefix with all tools takes a good part of them. */
const models = (windows: Record<string, number | undefined>) => ({
  models: Object.entries(windows).map(([name, context_window]) => ({
    name,
    ...(context_window !== undefined && { context_window }),
  })),
})
const UNREACHED = { compact_after_tokens: 100_000, compact_keep_tokens: 2000 }

/** A chat of so many turns of 1000 tokens each. */
async function longChat(turns: number): Promise<string> {
  const chat = rig.kernel.newChat()
  for (let at = 0; at < turns; at++) {
    await rig.kernel.turn(chat, plan([{ say: "yes" }], wordy(`part ${at}`, 1000)))
  }
  return chat
}

const tokensOf = (request: object): number => Buffer.byteLength(JSON.stringify(request)) / 4

describe("a smaller window", () => {
  test("CTX-26 CTX-27 CTX-10 TURN-043: a change of the chat's model folds before the first request", async () => {
    rig = await foldRig({
      config: { llm: models({ mock: undefined, other: 40_000 }) },
      context: UNREACHED,
    })
    const { kernel } = rig
    const chat = await longChat(40)
    expect(rig.summed()).toHaveLength(0)
    kernel.api.chats.setModel(chat, "other")
    const before = kernel.requests.length
    const events = await kernel.turn(chat, "and now?")
    const [first] = kernel.requests.slice(before)
    const second = rig.asked().at(-1)
    expect(first!.tools).toEqual([])
    expect(second!.model).toBe("other")
    expect(tokensOf([second!.system, second!.messages, second!.tools])).toBeLessThan(40_000)
    expect(events.map(({ type }) => type).indexOf("compacting")).toBeGreaterThan(0)
    expect(texts(events)).toBe("and now?")
    expect(spokenIn(second)).not.toContain("part 0")
    expect(stateOf(second)).toContain("> HANDOVER")
  })

  test("CTX-27: so does a model that the client asks for in one message", async () => {
    rig = await foldRig({
      config: { llm: models({ mock: undefined, other: 40_000 }) },
      context: UNREACHED,
    })
    const chat = await longChat(40)
    const events = await rig.kernel.turn(chat, { text: "and now?", model: "other" })
    expect(events.filter(({ type }) => type === "compacting")).toHaveLength(1)
    const last = rig.asked().at(-1)!
    expect(last.model).toBe("other")
    expect(tokensOf([last.system, last.messages, last.tools])).toBeLessThan(40_000)
  })

  test("L047 CTX-26: within a long turn each request is measured, and what it was asked stays in sight", async () => {
    let dug = 0
    rig = await foldRig({
      config: { llm: { ...models({ mock: 40_000 }), max_turn_iterations: 80 } },
      context: { ...UNREACHED, turn_squeeze_percent: 0, tool_result_max_chars: 4000 },
      // The script counts answers in sight, which a fold within the turn takes away.
      reply: (request) => {
        if (!spokenIn(request).includes("THE ORDER")) return undefined
        if (dug === 60) return { say: "All done." }
        dug++
        return { calls: [{ name: "dig", input: {} }] }
      },
    })
    const { kernel } = rig
    kernel.api.registry.register(DIG)
    const chat = await longChat(4)
    const events = await kernel.turn(chat, "THE ORDER")
    expect(texts(events)).toBe("All done.")
    expect(events.filter(({ type }) => type === "compacting").length).toBeGreaterThan(1)
    for (const request of rig.asked()) {
      expect(tokensOf([request.system, request.messages, request.tools])).toBeLessThan(40_000)
    }
    expect(spokenIn(rig.asked().at(-1))).toContain("THE ORDER")
    expect(stored(kernel, chat).filter(isMark).length).toBeGreaterThan(1)
  })
})

describe("a provider that finds the request too large", () => {
  test("CTX-30 LLM-012: is not asked the same again: the count is pinned, history folds, the step is taken anew", async () => {
    rig = await foldRig({ context: UNREACHED })
    const { kernel } = rig
    const chat = await longChat(6)
    const before = kernel.requests.length
    const events = await kernel.turn(chat, plan([{ fail: "overflow" }, { say: "It fits." }], "go"))
    const requests = kernel.requests.slice(before)
    expect(requests.map(({ tools }) => tools.length > 0)).toEqual([true, false, true])
    expect(events.map(({ type }) => type)).not.toContain("retry")
    expect(texts(events)).toBe("It fits.")
    expect(events.at(-1)).toMatchObject({ type: "done" })
    expect(spokenIn(requests[2])).not.toContain("part 0")
  })

  test("CTX-29: one that stays too large ends the turn with the request to send it again", async () => {
    rig = await foldRig({ context: UNREACHED })
    const { kernel } = rig
    const chat = await longChat(6)
    const fails = [{ fail: "overflow" }, { fail: "overflow" }, { fail: "overflow" }]
    const events = await kernel.turn(chat, plan(fails, "go"))
    const end = events.at(-1)
    expect(end).toMatchObject({ type: "error", code: "overflow" })
    expect(JSON.stringify(end)).toContain("please send the message again")
    expect(rig.summed()).toHaveLength(1)
    expect(texts(await kernel.turn(chat, "short"))).toBe("short")
  })

  test("CTX-29: where no substitute has room for it, history is folded at once and the turn goes on or says so", async () => {
    rig = await foldRig({
      config: {
        llm: { ...models({ mock: undefined, small: 12_000 }), model: { fallback: ["small"] } },
      },
      context: UNREACHED,
    })
    const { kernel } = rig
    const chat = await longChat(12)
    const before = kernel.requests.length
    const events = await kernel.turn(chat, plan([{ fail: "model" }, { say: "Here." }], "go"))
    expect(kernel.requests.slice(before).map(({ model }) => model)).not.toContain("small")
    expect(rig.summed()).toHaveLength(1)
    expect(texts(events)).toBe("Here.")
  })

  test("nothing to fold: the turn ends at once and says what would help", async () => {
    rig = await foldRig({ context: UNREACHED })
    const { kernel } = rig
    const chat = kernel.newChat()
    const events = await kernel.turn(chat, plan([{ fail: "overflow" }, { say: "no" }], "go"))
    expect(events.at(-1)).toMatchObject({ type: "error", code: "overflow" })
    expect(JSON.stringify(events.at(-1))).toContain("smaller parts")
    expect(rig.asked()).toHaveLength(1)
    expect(rig.summed()).toHaveLength(0)
  })

  test("a fold that fails there ends the turn, and the history is whole for the next try", async () => {
    const { log } = recordedLog()
    rig = await foldRig({ log, context: UNREACHED, handover: () => ({ fail: "fatal" }) })
    const { kernel } = rig
    const chat = await longChat(6)
    const events = await kernel.turn(chat, plan([{ fail: "overflow" }], "go"))
    expect(events.at(-1)).toMatchObject({ type: "error", code: "overflow" })
    await kernel.turn(chat, "again")
    expect(spokenIn(rig.asked().at(-1))).toContain("part 0")
  })
})

test("L002: a kernel that ends while the handover is written leaves the history whole, and the next start folds it", async () => {
  const asked = Promise.withResolvers<void>()
  rig = await foldRig({
    handover: () => {
      asked.resolve()
      return { say: "never", delayMs: 600_000 }
    },
  })
  const { kernel } = rig
  const chat = kernel.newChat()
  const turn = kernel.turn(chat, wordy("TASK", 700))
  await asked.promise
  await kernel.close(0)
  await turn
  rig = await foldRig({ folder: kernel.folder })
  const messages = stored(rig.kernel, chat)
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"])
  expect(rig.kernel.api.summaries.get(chat)).toBeUndefined()
  await rig.kernel.turn(chat, "next")
  expect(spokenIn(rig.asked().at(-1))).toContain("TASK")
  expect(rig.kernel.api.summaries.get(chat)?.text).toBe("HANDOVER")
})
