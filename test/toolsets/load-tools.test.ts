/** `tool_load` and `tool_find`: hidden tools come into sight, and no right comes with them. */
import { afterEach, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { silentLog } from "../../src/lib/log.ts"
import type { MockOptions } from "../../src/llm/mock.ts"
import { createRegistry, type RegistryEntry } from "../../src/tools/registry.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { searchTools } from "../../src/toolsets/search-tools.ts"
import { call, offered, type SetRig, sectionOf, setRig } from "./set-rig.ts"

let rig: SetRig | undefined
afterEach(async () => {
  await rig?.kernel.dispose()
  rig = undefined
})

const tool = (
  name: string,
  description: string,
  { group = "house", ...parameters }: { group?: string; [name: string]: unknown } = {},
): Tool => ({
  ...{ name, group, description, gates: [], traits: {} },
  input: Type.Object(parameters as never),
  run: async () => ({ output: `${name} ran` }),
})

const LIGHT = tool("lamp_switch", "Switches a lamp on or off.", {
  room: Type.String({ description: "Where the lamp stands, such as the kitchen" }),
})
const OVEN = tool("oven_heat", "Heats the oven to a temperature.", { degrees: Type.Integer() })

/** A kernel whose house is hidden. */
async function houseRig(answer?: MockOptions["answer"]): Promise<SetRig & { chat: string }> {
  rig = await setRig(
    {
      tools: { on_demand: ["house", "usage_stats"] },
      llm: { model: { general: "mock", fastest: "other" } },
    },
    answer,
  )
  rig.kernel.api.registry.registerAll([LIGHT, OVEN])
  return { ...rig, chat: rig.kernel.newChat() }
}

const asksFast = (request: { model: string }): boolean => request.model === "other"

describe("tool_load", () => {
  test("TSET-8 GATE-38: brings a tool, or a whole family, for this turn alone, and leaves the set as it is", async () => {
    const { chat, kernel, play } = await houseRig()
    const { requests, results } = await play(chat, [
      call("lamp_switch", { room: "kitchen" }),
      call("tool_load", { name: "house" }),
      call("lamp_switch", { room: "kitchen" }),
    ])
    expect(results[0]!.is_error).toBe(true)
    expect(results[0]!.output).toContain("tool_load")
    expect(results[1]!.output).toBe(
      "loaded for this turn, offered from the next step:\n- lamp_switch: Switches a lamp on or off\n- oven_heat: Heats the oven to a temperature",
    )
    expect(results[2]!.output).toContain("lamp_switch ran")
    expect(offered(requests[1])).not.toContain("oven_heat")
    expect(offered(requests[2])).toContain("oven_heat")
    const next = await play(chat, [])
    expect(offered(next.requests[0])).not.toContain("lamp_switch")
    expect(kernel.api.chats.get(chat).toolset).toBeNull()
  })

  test("an unknown name gets the nearest one; one that is offered already is said to be; what is closed says who could allow it", async () => {
    const { chat, play } = await houseRig()
    const said = async (name: string, body = {}) =>
      (await play(chat, [call("tool_load", { name })], body)).results[0]!
    expect((await said("lamp_swich")).output).toContain("Did you mean lamp_switch?")
    expect((await said("person_list")).output).toBe("already offered: person_list")
    const guest = { guest: true }
    const closed = await said("usage_stats", guest)
    expect(closed.is_error).toBe(true)
    expect(closed.output).toContain("only the master may have it used")
  })
})

test("a tool that leaves something running brings what goes on with it, for this turn", async () => {
  rig = await setRig({ tools: { on_demand: ["shell_write"] } })
  const chat = rig.kernel.newChat()
  const { requests, results } = await rig.play(chat, [
    call("shell", { command: "true", yield_ms: 30_000 }),
    call("shell", { command: "cat", yield_ms: 250 }),
    call("shell_write", { session_id: "s2", input: "hello\n", yield_ms: 250 }),
  ])
  expect(requests.map((request) => offered(request).includes("shell_write"))).toEqual([
    ...[false, false, true, true],
  ])
  expect(results[2]).toMatchObject({ is_error: false })
  const next = await rig.play(chat, [])
  expect(offered(next.requests[0])).not.toContain("shell_write")
})

describe("tool_find", () => {
  test("TSET-9 TSET-10: finds by words of name, purpose, family and parameters, and loads at once, without a model", async () => {
    const { chat, kernel, play } = await houseRig()
    for (const need of ["switch the lamps", "something in the kitchen", "heating, degrees"]) {
      const before = kernel.requests.length
      const { requests, results } = await play(chat, [call("tool_find", { need })])
      expect(results[0]!.output).toStartWith("loaded for this turn")
      const wanted = need.startsWith("heating") ? "oven_heat" : "lamp_switch"
      expect(offered(requests[1])).toContain(wanted)
      expect(kernel.requests.slice(before).filter(asksFast)).toHaveLength(0)
    }
  })

  test("TSET-12 TSET-13: the fast model is asked only when words find nothing, and a name that it invents goes nowhere", async () => {
    const { chat, kernel, play } = await houseRig((request) =>
      asksFast(request) && request.tools.length === 0
        ? { say: "open_the_pod_bay_doors\noven_heat\noven_heat" }
        : undefined,
    )
    const { requests, results } = await play(chat, [call("tool_find", { need: "испечь пирог" })])
    expect(results[0]!.output).toContain("- oven_heat:")
    expect(JSON.stringify(results)).not.toContain("pod_bay")
    expect(offered(requests[1])).toContain("oven_heat")
    const asked = kernel.requests.filter(
      (request) => asksFast(request) && request.tools.length === 0,
    )
    expect(asked).toHaveLength(1)
    expect(JSON.stringify(asked[0]!.messages)).toContain("lamp_switch: Switches a lamp on or off")
    const spend = await kernel.api.spend.ofChat(chat, { tokens: 0, prefix_tokens: null })
    expect(spend.by_source.map(({ source }) => source)).toContain("tool_find")
  })

  test("a guest's search asks no model, and nothing found is no event", async () => {
    const { chat, kernel, play } = await houseRig()
    const guest = await play(chat, [call("tool_find", { need: "испечь пирог" })], {
      guest: true,
    })
    expect(guest.results[0]!.output).toBe("No tool for this. Say so, or say it in other words.")
    expect(kernel.requests.filter(asksFast)).toHaveLength(0)
  })

  test("TSET-11: ranks as memory does: rarer words weigh more, of equals the shorter text", () => {
    const registry = createRegistry({ log: silentLog })
    registry.registerAll([
      tool("one", "reads a page about gardens and pages of other things in the world", {
        group: "x",
      }),
      tool("two", "reads a page", { group: "x" }),
      tool("three", "reads a compass", { group: "x" }),
      tool("four", "writes a page", { group: "x" }),
    ])
    const found = (need: string): string[] =>
      searchTools(need, registry.list() as RegistryEntry[]).map((entry) => entry.tool.name)
    expect(found("read page")[0]).toBe("two")
    expect(found("reading compass")[0]).toBe("three")
    expect(found("quantum entanglement")).toEqual([])
    expect(found("")).toEqual([])
  })
})

describe("the list of hidden tools", () => {
  test("TSET-25 PRM-021: names and purposes without schemas, a large family on one line", async () => {
    const { chat, kernel, play } = await houseRig()
    const many = Array.from({ length: 9 }, (_, at) =>
      tool(`bulb_${at}`, `Bulb ${at}.`, { group: "bulbs" }),
    )
    kernel.api.registry.registerAll(many)
    const { requests } = await play(chat, [], { toolset: "money" })
    const list = sectionOf(requests[0], "[hidden tools]")
    expect(list).toContain("\n- lamp_switch: Switches a lamp on or off")
    expect(list).toContain("\n- bulbs: bulb_0, bulb_1, bulb_2, bulb_3, bulb_4 … [9 tools]")
    expect(list).not.toContain("Where the lamp stands")
  })

  test("a family of the kernel's own says what it is for", async () => {
    const { chat, play } = await houseRig()
    const { requests } = await play(chat, [], { toolset: "social" })
    expect(sectionOf(requests[0], "[hidden tools]")).toMatch(
      /- client: files and commands on the client's machine and the server \[\d+ tools\]/,
    )
  })

  test("CACHE-20 CACHE-04: a set that is pinned breaks the prefix once, and what is loaded in a turn never reaches the next", async () => {
    const { chat, kernel, play } = await houseRig()
    const prefix = async (steps: unknown[] = []) => {
      const [request] = (await play(chat, steps)).requests
      return JSON.stringify([request!.tools, request!.system])
    }
    const first = await prefix([call("tool_load", { name: "house" })])
    expect(await prefix()).toBe(first)
    kernel.api.chats.setToolset(chat, "money")
    const narrowed = await prefix()
    expect(narrowed).not.toBe(first)
    expect(await prefix()).toBe(narrowed)
  })

  test("CACHE-06: a set put on stays at the chat by default, else its end breaks the prefix a second time", async () => {
    const { chat, play } = await houseRig()
    const tools = async (steps: unknown[]) =>
      (await play(chat, steps)).requests.map((request) => JSON.stringify(request.tools))
    const [usual, narrow] = await tools([call("toolset", { name: "money", scope: "turn" })])
    expect(narrow).not.toBe(usual)
    const [back, kept] = await tools([call("toolset", { name: "money" })])
    expect(back).toBe(usual)
    expect(kept).toBe(narrow)
    expect((await tools([]))[0]).toBe(narrow)
  })
})
