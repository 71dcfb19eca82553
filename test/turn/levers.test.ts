/** Levers on a running turn: its cap of requests and its effort. */
import { afterEach, describe, expect, test } from "bun:test"
import { plan, recordedLog, testKernel } from "../support/kernel.ts"
import { call, offered, type SetRig, setRig } from "../toolsets/set-rig.ts"

let rig: SetRig
afterEach(() => rig.kernel.dispose())

const steps = (count: number) => Array.from({ length: count }, () => call("person_list"))
const efforts = (requests: readonly { effort: string }[]) => requests.map(({ effort }) => effort)

describe("the cap of requests", () => {
  test("TTURN-1 TURN-004: the agent takes it off for the rest of the turn, and for that turn alone", async () => {
    rig = await setRig({ llm: { max_turn_iterations: 5 } })
    const chat = rig.kernel.newChat()
    const lifted = await rig.play(chat, [call("lift_turn_limit"), ...steps(9)])
    expect(lifted.events.at(-1)).toMatchObject({ type: "done" })
    expect(lifted.results[0]!.output).toBe("this turn has no limit of requests any more")
    const next = await rig.play(chat, steps(9))
    expect(next.events.at(-1)).toMatchObject({ type: "error", code: "iterations" })
  })

  test("TTURN-1: it tells the model to ask first, and is the master's alone", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const { requests } = await rig.play(chat, [])
    const spec = requests[0]!.tools.find(({ name }) => name === "lift_turn_limit")
    expect(spec!.description).toContain("ask_questions")
    const guest = await rig.play(chat, [call("lift_turn_limit")], { guest: true })
    expect(offered(guest.requests[0])).not.toContain("lift_turn_limit")
    expect(guest.results[0]!.is_error).toBe(true)
  })

  test("TTURN-2 TTURN-3: it is llm.max_turn_iterations, 16 by default; the request's own word lifts it, too", async () => {
    rig = await setRig()
    expect(rig.kernel.api.config.llm.max_turn_iterations).toBe(16)
    const chat = rig.kernel.newChat()
    const capped = await rig.play(chat, steps(30))
    expect(capped.requests).toHaveLength(16)
    const warned = capped.requests.findIndex((request) =>
      JSON.stringify(request.messages).includes('"text":"[wrapup]'),
    )
    expect(warned).toBe(13)
    const lifted = await rig.play(chat, steps(20), { trusted: true, uncapped_iterations: true })
    expect(lifted.requests).toHaveLength(21)
  })
})

describe("the effort", () => {
  test("TTURN-4 TTURN-5 LLM-015: rises from the next step to the end of the turn, never falls, and is logged", async () => {
    const { log, lines } = recordedLog()
    const kernel = await testKernel({ log, config: { llm: { reasoning: "low" } } })
    rig = { kernel, play: () => Promise.reject(new Error("not played")) }
    const chat = kernel.newChat()
    const before = kernel.requests.length
    const played = [
      call("think_harder"),
      call("think_harder", { level: "high" }),
      call("think_harder", { level: "low" }),
      { say: "ok" },
    ]
    const events = await kernel.turn(chat, plan(played))
    expect(efforts(kernel.requests.slice(before))).toEqual(["low", "mid", "high", "high"])
    const outputs = events.flatMap((event) => (event.type === "tool_result" ? [event.output] : []))
    expect(outputs).toEqual([
      "the effort is mid from the next step (it was low)",
      "the effort is high from the next step (it was mid)",
      "the effort is high already, and it only rises within a turn",
    ])
    expect(lines.filter((line) => line.includes("effort was raised"))).toHaveLength(2)
    await kernel.turn(chat, "next")
    expect(kernel.requests.at(-1)!.effort).toBe("low")
  })

  test("TTURN-6: without it the request decides, then ultrathink, the chat, the surface, the model, the setting", async () => {
    rig = await setRig({
      llm: { reasoning: "low", models: [{ name: "mock" }, { name: "other", effort: "mid" }] },
    })
    const { kernel } = rig
    const chat = kernel.newChat()
    const effort = async (body: object, text = "hello"): Promise<string> => {
      await kernel.turn(chat, { text, ...body })
      return kernel.requests.at(-1)!.effort
    }
    expect(await effort({})).toBe("low")
    expect(await effort({ model: "other" })).toBe("mid")
    expect(await effort({ model: "other", surface_effort: "high" })).toBe("high")
    kernel.api.chats.setEffort(chat, "mid")
    expect(await effort({ surface_effort: "high" })).toBe("mid")
    const most = await effort({}, "ultrathink about it")
    expect(["high", "max"]).toContain(most)
    expect(await effort({ effort: "off" }, "ultrathink about it")).toBe("off")
  })
})
