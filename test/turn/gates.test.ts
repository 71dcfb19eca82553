/**
 * The gates over the kernel as it is composed: every tool that exists, in every kind of turn, by its name and
 * by whatever else a model may call it.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { silentLog } from "../../src/lib/log.ts"
import { TOOL_GATES } from "../../src/schema/tool-spec.ts"
import { type AccessLayer, type ReachTurn, reach } from "../../src/tools/reach.ts"
import { runCall } from "../../src/tools/run.ts"
import { snapshot } from "../../src/tools/snapshot.ts"
import type { Tool, ToolAccess, TurnIdentity } from "../../src/tools/tool.ts"
import { plan, type TestKernel, tempFolder, testKernel } from "../support/kernel.ts"
import { guestIdentity, makeTool, masterIdentity } from "../support/tools.ts"

const EXTERNAL = `name = "house_light"
description = "Switches the light."
command = ["true"]
`

let kernel: TestKernel
/** Names of master tools whose body began, whoever called. */
let ran: string[]

/** Everything optional is there; a synthetic tool for each gate keeps the test from proving nothing. */
beforeEach(async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, "tools.d"))
  writeFileSync(join(folder, "tools.d", "house.toml"), EXTERNAL)
  kernel = await testKernel({
    folder,
    config: {
      tools: { on_demand: ["ext", "code_task"] },
      llm: { code_model: "other", max_turn_iterations: 500 },
    },
  })
  const { registry } = kernel.api
  for (const gate of TOOL_GATES) {
    registry.register(makeTool({ name: `only_${gate}`, gates: ["master_only", gate] }))
  }
  ran = []
  for (const { tool } of registry.list()) {
    if (!tool.gates.includes("master_only")) continue
    tool.run = async () => {
      ran.push(tool.name)
      return { output: "ran" }
    }
  }
})
afterEach(() => kernel.dispose())

const toolsOf = (): Tool[] => kernel.api.registry.list().map(({ tool }) => tool)
const masterTools = (): Tool[] => toolsOf().filter(({ gates }) => gates.includes("master_only"))

const KINDS: Record<string, TurnIdentity> = {
  guest: guestIdentity(),
  "guest on the allow list": guestIdentity({ privileged: true }),
  "guest in a chat of its own": guestIdentity({ anchored: false, public: false }),
  "master from an untrusted place": masterIdentity({ trusted: false, clientOps: false }),
  "master at his own client": masterIdentity(),
  "master where guests read along": masterIdentity({
    trusted: false,
    clientOps: false,
    public: true,
  }),
  "cron job": masterIdentity({ trusted: false, clientOps: false, planning: false }),
  "sub-agent": masterIdentity({ trusted: false, clientOps: false, agent: true }),
}
const GUESTS = Object.values(KINDS).filter(({ master }) => !master)

/** What a model may write in place of a name. */
const spellings = (name: string): string[] => [
  ...[name, name.toUpperCase(), ` ${name}`, `${name} `, `${name}\n`, `"${name}"`, `${name}\0`],
  ...[`functions.${name}`, `mcp__${name}`, `default_api.${name}`, `${name}()`, `tool_load/${name}`],
  ...[name.replace("o", "о"), `__proto__.${name}`, name.replaceAll("_", "-")],
]

/** Turns of one identity, with everything opened, listed, pinned or curated that a chat may hold. */
const turnsOf = (identities: readonly TurnIdentity[]): fc.Arbitrary<ReachTurn> => {
  const tools = toolsOf()
  const known = [...new Set(tools.flatMap(({ name, group }) => [name, group]))]
  const names = fc.oneof(fc.constant(known), fc.subarray(known))
  const access = fc.oneof<fc.Arbitrary<ToolAccess>[]>(
    fc.constant({ kind: "all" }),
    names.map((list) => ({ kind: "only", names: list })),
  )
  const source = fc.constantFrom<AccessLayer["source"]>("request", "chat", "cron", "agent")
  return fc.record(
    {
      identity: fc.constantFrom(...identities),
      access: fc.array(fc.record({ source, access }), { maxLength: 3 }),
      onDemand: names,
      opened: names,
      toolset: access,
      curated: access,
    },
    { requiredKeys: ["identity", "access", "onDemand", "opened"] },
  )
}

describe("the whole registry", () => {
  test("SEC-01 GATE-7: from a guest's turn no master tool runs, however it is named, opened, listed, pinned or remembered", async () => {
    const targets = masterTools()
    expect(targets.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["house_light", "person_merge", "only_unlisted"]),
    )
    const named = targets.flatMap(({ name }) => spellings(name))
    await fc.assert(
      fc.asyncProperty(turnsOf(GUESTS), fc.constantFrom(...named), async (turn, name) => {
        const step = snapshot(kernel.api.registry, turn)
        const own = new Set(targets.map((tool) => tool.name))
        expect(step.specs.filter((spec) => own.has(spec.name))).toEqual([])
        expect(step.hidden.filter((tool) => own.has(tool.name))).toEqual([])
        const result = await runCall({
          snapshot: step,
          call: { type: "tool_use", id: "c", name, input: {} },
          context: {
            ...{ chatId: "c", turnId: "t", identity: turn.identity, source: "message" },
            ...{ sender: undefined, anchor: undefined, log: silentLog },
            workdir: { path: undefined, on: "server" },
            clientOp: () => Promise.reject(new Error("no client")),
            signal: new AbortController().signal,
          },
          onProgress: () => {},
          redact: (text) => text,
        })
        expect(result.isError).toBe(true)
      }),
      { numRuns: 2000, seed: 4 },
    )
    expect(ran).toEqual([])
  })

  test("SEC-01: nor in a whole turn over a chat where the master has used them all, with every claim a sender can make", async () => {
    const names = masterTools().map(({ name }) => name)
    const calls = (list: readonly string[]) =>
      plan([{ calls: list.map((name) => ({ name, input: {} })) }, { say: "done" }])
    const chat = kernel.newChat()
    await kernel.turn(chat, { text: calls(names), trusted: true })
    expect(ran.length).toBeGreaterThan(0)
    ran = []
    const attempts = calls(names.flatMap((name) => [name, name, name, name.toUpperCase()]))
    const { id: sender } = kernel.api.persons.resolve({ source: "tg", ext_id: "1", name: "Eve" })
    for (const claim of [
      { guest: true },
      { guest: true, trusted: true, privileged: true, client_ops: true },
      { sender, privileged: true, tools: names },
      { sender, trusted: true, anchor: "x", tools: ["ext", "person", "files", "test"] },
    ]) {
      const events = await kernel.turn(chat, { text: attempts, ...claim })
      const results = events.filter((event) => event.type === "tool_result")
      expect(results.length).toBeGreaterThan(names.length)
      expect(results.filter((result) => !result.is_error)).toEqual([])
    }
    expect(ran).toEqual([])
  })

  test("GATE-6: in every kind of turn specs, hidden block and execution say the same of every tool", () => {
    const tools = toolsOf()
    fc.assert(
      fc.property(turnsOf(Object.values(KINDS)), (turn) => {
        const step = snapshot(kernel.api.registry, turn)
        const shown = new Set(step.specs.map(({ name }) => name))
        const listed = new Set(step.hidden.map(({ name }) => name))
        for (const tool of tools) {
          const { state } = reach(tool, turn)
          expect(shown.has(tool.name)).toBe(state === "visible")
          expect(listed.has(tool.name)).toBe(state === "reserved")
          expect("tool" in step.resolve(tool.name)).toBe(state === "visible" || state === "hidden")
        }
      }),
      { numRuns: 200, seed: 5 },
    )
  })

  test("every refusal is one sentence that says who could allow it", () => {
    const who = /master|lead|client|surface|sub-agent|user|tool_load/
    for (const [kind, identity] of Object.entries(KINDS)) {
      const turn = { identity, access: [], onDemand: kernel.api.config.tools.on_demand, opened: [] }
      const { resolve } = snapshot(kernel.api.registry, turn)
      for (const { name } of toolsOf()) {
        const resolved = resolve(name)
        if (!("refusal" in resolved)) continue
        expect(`${kind}: ${resolved.refusal}`).toMatch(who)
        expect(resolved.refusal).toMatch(/^[^.]+(?:\.[^ ][^.]*)*\.(?: [^.]+(?:\.[^ ][^.]*)*\.)?$/)
      }
    }
  })

  test("GATE-35: tools of files do not exist where guests read along, and cron jobs and sub-agents keep them", () => {
    const state = (tool: Tool, kind: keyof typeof KINDS) =>
      reach(tool, { identity: KINDS[kind]!, access: [], onDemand: [], opened: [] }).state
    const { group } = kernel.api.registry.get("apply_patch")!
    const files = toolsOf().filter((tool) => tool.group === group)
    // What only a client can run is not for turns without one.
    for (const tool of files.filter(({ gates }) => !gates.includes("client_only"))) {
      expect(state(tool, "master where guests read along")).toBe("forbidden")
      expect(state(tool, "guest")).toBe("forbidden")
      expect(state(tool, "cron job")).toBe("visible")
      expect(state(tool, "sub-agent")).toBe("visible")
    }
  })

  test("GATE-30: the list of a send is the base of its turn, by names and by groups", async () => {
    const offered = async (tools?: string[]) => {
      await kernel.turn(kernel.newChat(), { text: "hi", trusted: true, ...(tools && { tools }) })
      return kernel.requests.at(-1)!.tools.map(({ name }) => name)
    }
    // The ways out of a narrow list stand in it, too.
    const waysOut = ["skill", "tool_find", "tool_load", "toolset"]
    expect(await offered(["person_list"])).toEqual(["person_list", ...waysOut])
    const persons = toolsOf().filter(({ group }) => group === "person")
    expect(await offered(["person"])).toEqual([...persons.map(({ name }) => name), ...waysOut])
    expect((await offered()).length).toBeGreaterThan(persons.length)
  })
})

describe("the tools of files", () => {
  const FILE_TOOLS = ["read_file", "apply_patch"]
  const offered = (identity: TurnIdentity): string[] => {
    const turn = { identity, access: [], onDemand: [], opened: FILE_TOOLS }
    const { specs, hidden } = snapshot(kernel.api.registry, turn)
    return [...specs, ...hidden].map(({ name }) => name).filter((name) => FILE_TOOLS.includes(name))
  }

  test("SEC-16: do not exist in a public chat, also when its master asks", () => {
    expect(offered(masterIdentity({ trusted: false, public: true }))).toEqual([])
  })

  test("SEC-16: stay with untrusted turns that are not public: jobs and sub-agents", () => {
    expect(offered(masterIdentity({ trusted: false })).sort()).toEqual([...FILE_TOOLS].sort())
    const agent = masterIdentity({ trusted: false, agent: true })
    expect(offered(agent).sort()).toEqual([...FILE_TOOLS].sort())
  })
})
