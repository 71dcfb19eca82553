/** Tool sets: kept, pinned, put on, and what a turn offers while one is on. */

import { Database } from "bun:sqlite"
import { afterEach, describe, expect, test } from "bun:test"
import { testKernel } from "../support/kernel.ts"
import { call, offered, type SetRig, sectionOf, setRig, systemOf } from "./set-rig.ts"

let rig: SetRig
afterEach(() => rig.kernel.dispose())

const WAYS_OUT = ["skill", "tool_find", "tool_load", "toolset"]
const GARDEN = {
  ...{ name: "garden", description: "Plants and beds", tools: ["memory", "usage_stats"] },
  ...{ hint: "Water first." },
}
const open = (db: string): Database => new Database(db)

describe("the seeds", () => {
  test("TSET-36 TSET-37: the first start sows five sets once; one that was removed does not come back", async () => {
    rig = await setRig()
    const { kernel } = rig
    const names = kernel.api.toolsets.list().map(({ name }) => name)
    expect(names).toEqual(["coding", "money", "ops", "research", "social"])
    // Families of features that this build does not have match nothing, and harm nothing.
    const known = new Set(kernel.api.registry.list().map(({ tool }) => tool.group))
    const listed = kernel.api.toolsets.list().flatMap(({ tools }) => tools)
    expect(listed.some((group) => !known.has(group))).toBe(true)
    await rig.play(kernel.newChat(), [call("toolset_delete", { name: "money" })])
    await kernel.close(0)
    const again = await testKernel({ folder: kernel.folder })
    rig = { ...rig, kernel: again }
    expect(again.api.toolsets.list().map(({ name }) => name)).not.toContain("money")
    const db = open(again.api.config.db.path)
    const latch = db.query("SELECT value FROM kernel_meta WHERE key = 'toolsets_seeded'").get()
    db.close()
    expect(latch).toEqual({ value: "1" })
  })

  test("TSET-38 TTURN-7: coding and ops bring the working mode; the groups are where the work is", async () => {
    rig = await setRig()
    const sets = new Map(rig.kernel.api.toolsets.list().map((set) => [set.name, set]))
    for (const name of ["coding", "ops"]) {
      expect(sets.get(name)).toMatchObject({ uncapped: true, narrate: true, no_brevity: true })
    }
    expect(sets.get("research")).toMatchObject({ uncapped: false, narrate: false })
    expect(sets.get("coding")!.tools).toContain("client")
    expect(sets.get("ops")!.tools).toContain("rules")
    expect(sets.get("social")!.tools).toContain("images")
    for (const name of ["coding", "ops", "research"]) {
      const chat = rig.kernel.newChat()
      const { requests } = await rig.play(chat, [], { toolset: name })
      expect(offered(requests[0])).toContain("think_harder")
      // What the rules ask for in every kind of work is at hand in every kind of work.
      for (const always of ["ask_questions", "history_search", "memory_save", "chat_note_save"]) {
        expect(offered(requests[0])).toContain(always)
      }
    }
  })
})

describe("keeping sets", () => {
  test("TSET-1 TSET-15 TSET-16 TSET-17: a set is made, changed field by field, and removed, and its chats are free", async () => {
    rig = await setRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    const made = await rig.play(chat, [call("toolset_create", { ...GARDEN, uncapped: true })])
    expect(made.results[0]!.output).toBe(
      "created: garden: Plants and beds [no iteration cap] — memory, usage_stats",
    )
    kernel.api.chats.setToolset(chat, "garden")
    const edit = call("toolset_edit", { name: "garden", tools: ["web"], hint: "" })
    await rig.play(chat, [edit], { toolset: null })
    expect(kernel.api.toolsets.list().find(({ name }) => name === "garden")).toMatchObject({
      ...{ description: "Plants and beds", tools: ["web"], hint: null, uncapped: true },
    })
    await rig.play(chat, [call("toolset_delete", { name: "garden" })], { toolset: null })
    expect(kernel.api.chats.get(chat).toolset).toBeNull()
    const db = open(kernel.api.config.db.path)
    expect(db.query("SELECT count(*) AS n FROM toolsets WHERE name = 'garden'").get()).toEqual({
      n: 0,
    })
    db.close()
  })

  test("what cannot be a set is refused with the right form, and nothing is kept", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const bad = async (input: object): Promise<string> => {
      const { results } = await rig.play(chat, [call("toolset_create", { ...GARDEN, ...input })])
      expect(results[0]!.is_error).toBe(true)
      return results[0]!.output
    }
    expect(await bad({ tools: ["memry"] })).toContain("did you mean memory?")
    expect(await bad({ name: "two words" })).toContain("one word")
    expect(await bad({ name: "coding" })).toContain("there already")
    expect(await bad({ workdir: "relative/path" })).toContain("absolute")
    const gone = await rig.play(chat, [call("toolset_edit", { name: "opps", hint: "x" })])
    expect(gone.results[0]!.output).toContain("did you mean ops?")
    const none = await rig.play(chat, [call("toolset_edit", { name: "ops" })])
    expect(none.results[0]!.output).toContain("nothing to change")
    expect(rig.kernel.api.toolsets.list()).toHaveLength(5)
  })

  test("TSET-18 TSET-19 API-008: an empty list is the whole registry; one that cannot be read opens nothing and says so", async () => {
    rig = await setRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    const all = offered((await rig.play(chat, [])).requests[0])
    await rig.play(chat, [call("toolset_create", { ...GARDEN, tools: [] })])
    const whole = await rig.play(chat, [], { toolset: "garden" })
    expect(offered(whole.requests[0])).toEqual(all)
    const db = open(kernel.api.config.db.path)
    db.run("UPDATE toolsets SET tools = '{broken' WHERE name = 'garden'")
    db.close()
    const [set] = kernel.api.toolsets.list().filter(({ name }) => name === "garden")
    expect(set).toMatchObject({ tools: [], tools_error: "the stored list is no list of names" })
    const closed = await rig.play(chat, [], { toolset: "garden" })
    expect(offered(closed.requests[0])).toEqual(WAYS_OUT)
  })
})

describe("a set that is on", () => {
  test("TSET-2 TSET-3 TSET-4 TSET-14 TSET-23 TSKL-9 SKL-08: is chosen from a list, narrows the next step, stays at the chat with its words, and hides no way out", async () => {
    rig = await setRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    await rig.play(chat, [call("toolset_create", GARDEN)])
    const { requests, results } = await rig.play(chat, [call("toolset", { name: "garden" })])
    expect(sectionOf(requests[0], "[tool sets]")).toContain("\n- garden: Plants and beds")
    expect(results[0]!.output).toBe("garden is on in this chat, from the next step\nWater first.")
    const narrow = offered(requests[1])
    expect(narrow).toContain("memory_save")
    expect(narrow).toContain("usage_stats")
    expect(narrow).toEqual(expect.arrayContaining(WAYS_OUT))
    expect(narrow).not.toContain("person_list")
    expect(kernel.api.chats.get(chat).toolset).toBe("garden")
    const next = await rig.play(chat, [])
    expect(offered(next.requests[0])).toEqual(narrow)
    expect(sectionOf(next.requests[0], "[tool set in force]")).toBe(
      "[tool set in force] garden\nWater first.",
    )
    const off = await rig.play(chat, [call("toolset", { name: null })])
    expect(off.results[0]!.output).toBe("no set in this chat: the usual tools from the next step")
    expect(offered(off.requests[1])).toContain("person_list")
    expect(kernel.api.chats.get(chat).toolset).toBeNull()
  })

  test("TSET-4: with the scope turn it ends with the turn", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const { requests } = await rig.play(chat, [call("toolset", { name: "money", scope: "turn" })])
    expect(offered(requests[1])).not.toContain("person_list")
    expect(rig.kernel.api.chats.get(chat).toolset).toBeNull()
    expect(offered((await rig.play(chat, [])).requests[0])).toContain("person_list")
  })

  test("TSET-5 TSET-6 API-055: a request puts one on for its turn, a client pins one; an unknown one is named", async () => {
    rig = await setRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    const once = await rig.play(chat, [], { toolset: "money" })
    expect(offered(once.requests[0])).not.toContain("person_list")
    expect(kernel.api.chats.get(chat).toolset).toBeNull()
    kernel.api.chats.setToolset(chat, "money")
    expect(kernel.api.chats.get(chat).toolset).toBe("money")
    const without = await rig.play(chat, [], { toolset: null })
    expect(offered(without.requests[0])).toContain("person_list")
    expect(() => kernel.api.chats.setToolset(chat, "mony")).toThrow("did you mean money?")
    expect(rig.play(chat, [], { toolset: "mony" })).rejects.toThrow("did you mean money?")
  })

  test("TSET-7 TSET-22: its directory is written onto the chat, which then goes its own way; a branch inherits both", async () => {
    rig = await setRig()
    const { kernel } = rig
    const { chats } = kernel.api
    const chat = kernel.newChat()
    await rig.play(chat, [call("toolset_create", { ...GARDEN, workdir: "/srv/garden" })])
    await rig.play(chat, [call("toolset", { name: "garden" })])
    expect(chats.get(chat)).toMatchObject({ workdir: "/srv/garden", workdir_on: "server" })
    const last = kernel.api.messages.page(chat, {}).at(-1)!
    const branch = chats.fork(chat, { before_message: last.id })
    expect(branch).toMatchObject({ toolset: "garden", workdir: "/srv/garden" })
    chats.setWorkdir(chat, { workdir: "/srv/other", workdir_on: "server" })
    await rig.play(chat, [call("toolset_edit", { name: "garden", workdir: "/srv/third" })])
    expect(chats.get(chat).workdir).toBe("/srv/other")
  })

  test("TSET-20 TSET-21 TTURN-3 TURN-004 GATE-38: a mode holds in the master's turns and at once: no cap, spoken steps, length", async () => {
    rig = await setRig({ llm: { max_turn_iterations: 4 } })
    const chat = rig.kernel.newChat()
    const steps = Array.from({ length: 8 }, () => call("person_list"))
    const capped = await rig.play(chat, steps)
    expect(capped.events.at(-1)).toMatchObject({ type: "error", code: "iterations" })
    const lifted = await rig.play(chat, [call("toolset", { name: "coding" }), ...steps])
    expect(lifted.events.at(-1)).toMatchObject({ type: "done" })
    const next = await rig.play(chat, [], { brief: true })
    const system = systemOf(next.requests[0])
    expect(system).toContain("Before each step you SHOULD say in a sentence what you do and why")
    expect(system).not.toContain("keep the answer brief")
    const { id } = rig.kernel.api.persons.resolve({ source: "telegram", ext_id: "9", name: "Anna" })
    const guest = await rig.play(chat, steps, { guest: true, sender: id, brief: true })
    expect(systemOf(guest.requests[0])).not.toContain("Before each step")
    expect(systemOf(guest.requests[0])).toContain("keep the answer brief")
    expect(guest.events.at(-1)).toMatchObject({ type: "error", code: "iterations" })
  })

  test("TSET-31 PRM-020 CACHE-04: a switch in mid-turn moves the tools and leaves the system part as it is", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const { requests } = await rig.play(chat, [call("toolset", { name: "money" })])
    expect(systemOf(requests[1])).toBe(systemOf(requests[0]))
    expect(offered(requests[1])).not.toEqual(offered(requests[0]))
    const next = await rig.play(chat, [])
    expect(systemOf(next.requests[0])).not.toBe(systemOf(requests[0]))
    expect(sectionOf(next.requests[0], "[hidden tools]")).toContain("person")
  })
})

describe("rights", () => {
  test("TSET-35 TSET-34: no set gives a guest a master's tool, and it only narrows what a list admits", async () => {
    rig = await setRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    await rig.play(chat, [call("toolset_create", { ...GARDEN, tools: ["memory", "person"] })])
    const { id } = kernel.api.persons.resolve({ source: "telegram", ext_id: "9", name: "Anna" })
    const guest = { guest: true, sender: id }
    const open = offered((await rig.play(chat, [], guest)).requests[0])
    const master = new Set(
      kernel.api.registry
        .list()
        .flatMap(({ tool }) => (tool.gates.includes("master_only") ? [tool.name] : [])),
    )
    const { requests } = await rig.play(chat, [call("toolset", { name: "garden" })], guest)
    const narrowed = offered(requests[1])
    expect(narrowed.filter((name) => master.has(name))).toEqual([])
    expect(narrowed.every((name) => open.includes(name))).toBe(true)
    expect(kernel.api.chats.get(chat).toolset).toBeNull()
    const listed = await rig.play(chat, [call("toolset", { name: "garden" })], {
      ...guest,
      tools: ["toolset", "web_fetch"],
    })
    expect(offered(listed.requests[1])).toEqual(WAYS_OUT)
  })

  test("TSET-33: in a trusted turn a set is the base, and anything may be brought back from the registry", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const { requests, results } = await rig.play(
      chat,
      [call("tool_load", { name: "person_list" }), call("person_list")],
      { toolset: "money" },
    )
    expect(offered(requests[0])).not.toContain("person_list")
    expect(offered(requests[1])).toContain("person_list")
    expect(results[1]!.is_error).toBe(false)
  })

  test("TSET-32: what is kept on demand is out of sight without a set, and comes when a set or a list names it", async () => {
    rig = await setRig({ tools: { on_demand: ["person", "usage_stats"] } })
    const chat = rig.kernel.newChat()
    const usual = await rig.play(chat, [])
    expect(offered(usual.requests[0])).not.toContain("person_list")
    expect(offered(usual.requests[0])).not.toContain("usage_stats")
    expect(sectionOf(usual.requests[0], "[hidden tools]")).toContain("\n- usage_stats: ")
    await rig.play(chat, [call("tool_load", { name: "toolset" }), call("toolset_create", GARDEN)])
    const set = await rig.play(chat, [], { toolset: "garden" })
    expect(offered(set.requests[0])).toContain("usage_stats")
    const listed = await rig.play(chat, [], { tools: ["usage_stats"] })
    expect(offered(listed.requests[0])).toContain("usage_stats")
  })
})
