import { expect, test } from "bun:test"
import fc from "fast-check"
import { TOOL_GATES, type ToolGate } from "../../src/schema/tool-spec.ts"
import { ALL_TOOLS, NO_TOOLS, readAccess } from "../../src/tools/access.ts"
import { type AccessLayer, type ReachTurn, reach } from "../../src/tools/reach.ts"
import { snapshot } from "../../src/tools/snapshot.ts"
import type { Tool, ToolAccess, TurnIdentity } from "../../src/tools/tool.ts"
import { guestIdentity, makeTool, masterIdentity, reachTurn, registryOf } from "../support/tools.ts"

const only = (...names: string[]): ToolAccess => ({ kind: "only", names })
/** The refusal of a call by name, or undefined when it would run. */
function refusal(tool: Tool, turn: ReachTurn, ...others: Tool[]): string | undefined {
  const resolved = snapshot(registryOf(tool, ...others), turn).resolve(tool.name)
  return "refusal" in resolved ? resolved.refusal : undefined
}

/** The gate holds in listing, hidden block and call alike, and no loading lifts it. */
function expectGate(gate: ToolGate, open: TurnIdentity, closed: TurnIdentity): void {
  const tool = makeTool({ gates: [gate] })
  const shown = snapshot(registryOf(tool), reachTurn({ identity: open }))
  expect(shown.specs.map((spec) => spec.name)).toEqual(["echo"])
  expect(shown.resolve("echo")).toEqual({ tool })

  const turn = reachTurn({ identity: closed, opened: ["echo", "test"] })
  const hidden = snapshot(registryOf(tool), turn)
  expect(hidden.specs).toEqual([])
  expect(hidden.hidden).toEqual([])
  expect(refusal(tool, turn)).toMatch(/^echo is closed in this turn: .{20,}\.$/)
}

test("GATE-14: master_only opens in the master's turns only", () => {
  expectGate("master_only", guestIdentity({ master: true }), guestIdentity({ privileged: true }))
})

test("GATE-15: privileged_only opens for allowed users only", () => {
  expectGate("privileged_only", guestIdentity({ privileged: true }), guestIdentity())
})

test("GATE-16: trusted_only opens in a trusted place only", () => {
  const master = masterIdentity({ trusted: false })
  expectGate("trusted_only", guestIdentity({ trusted: true }), master)
})

test("GATE-17: client_only opens when the client offers client operations", () => {
  expectGate("client_only", masterIdentity(), masterIdentity({ clientOps: false }))
})

test("GATE-18 SEC-02: agent_only opens in a sub-agent's turn only", () => {
  expectGate("agent_only", masterIdentity({ agent: true }), masterIdentity())
})

test("GATE-19 SEC-02: lead_only is closed in a sub-agent's turn", () => {
  expectGate("lead_only", masterIdentity(), masterIdentity({ agent: true }))
})

test("GATE-20: needs_agents opens while the chat has a live sub-agent", () => {
  expectGate("needs_agents", masterIdentity({ hasAgents: true }), masterIdentity())
})

test("GATE-21 SEC-07: anchored_only opens in an anchored turn, at the call as well", () => {
  expectGate("anchored_only", masterIdentity({ anchored: true }), masterIdentity())
})

test("GATE-22: indexed_notes_only opens when the notebook is an index, and no load brings it else", () => {
  expectGate("indexed_notes_only", masterIdentity({ indexedNotes: true }), masterIdentity())
})

test("not_public closes where guests may read along, the master's own turn included", () => {
  expectGate("not_public", masterIdentity(), masterIdentity({ public: true }))
})

test("planning_only opens in a working turn", () => {
  expectGate("planning_only", masterIdentity(), masterIdentity({ planning: false }))
})

test("needs_agents says how to get an agent", () => {
  expect(refusal(makeTool({ gates: ["needs_agents"] }), reachTurn())).toContain(
    "spawn one with agent_spawn first",
  )
})

test("GATE-4 GATE-24: an unlisted tool runs by name and is advertised nowhere", () => {
  const tool = makeTool({ gates: ["unlisted"] })
  const step = snapshot(registryOf(tool), reachTurn())
  expect(reach(tool, reachTurn())).toEqual({ state: "hidden" })
  expect(step.specs).toEqual([])
  expect(step.hidden).toEqual([])
  expect(step.resolve("echo")).toEqual({ tool })
})

test("SEC-01 GATE-7: an unlisted tool is still held by the gates of identity", () => {
  const tool = makeTool({ gates: ["unlisted", "master_only"] })
  expect(refusal(tool, reachTurn({ identity: guestIdentity() }))).toContain("only the master")
})

test("GATE-29 TOOL-2: an access list is everything or entries that name a tool or its group", () => {
  const layered = (access: ToolAccess) =>
    reach(
      makeTool({ name: "memory_search", group: "memory" }),
      reachTurn({ identity: guestIdentity(), access: [{ source: "chat", access }] }),
    ).state
  expect(layered(ALL_TOOLS)).toBe("visible")
  expect(layered(only("memory_search"))).toBe("visible")
  expect(layered(only("memory"))).toBe("visible")
  expect(layered(only("mem", "memory_"))).toBe("forbidden")
  expect(layered(only())).toBe("forbidden")
})

const SOURCES: AccessLayer["source"][] = ["request", "chat", "cron", "agent"]

test("GATE-8 GATE-10: in an untrusted turn whitelists are rights: no loading and no set goes beyond them", () => {
  for (const source of SOURCES) {
    const turn = reachTurn({
      identity: guestIdentity({ master: true }),
      access: [{ source, access: only("memory") }],
      opened: ["shell"],
      toolset: only("shell"),
    })
    const tool = makeTool({ name: "shell", group: "shell" })
    const step = snapshot(registryOf(tool), turn)
    expect(step.specs).toEqual([])
    expect(step.hidden).toEqual([])
    expect(refusal(tool, turn)).toStartWith("shell is closed in this turn: ")
    expect(refusal(tool, turn)).toMatch(/master|lead/)
  }
})

test("every whitelist of a turn must admit a tool", () => {
  const access: AccessLayer[] = [
    { source: "request", access: only("a", "b") },
    { source: "chat", access: only("b", "c") },
  ]
  const state = (name: string) =>
    reach(makeTool({ name }), reachTurn({ identity: guestIdentity(), access })).state
  expect(["a", "b", "c"].map(state)).toEqual(["forbidden", "visible", "forbidden"])
})

test("GATE-31 SEC-06 TURN-020: a name outside the turn's access is refused at execution with the way to open it", () => {
  const shell = makeTool({ name: "shell", group: "shell" })
  const loaders = ["tool_load", "toolset"].map((name) =>
    makeTool({ name, group: "toolset", traits: { wayOut: true } }),
  )
  const turn = reachTurn({ access: [{ source: "chat", access: only("memory") }] })
  const text = refusal(shell, turn, ...loaders)
  expect(text).toContain('tool_load ("shell")')
  expect(text).toContain("toolset")

  expect(refusal(shell, { ...turn, opened: ["shell"] }, ...loaders)).toBeUndefined()
})

test("GATE-3 GATE-9: attention reserves: no spec, a line in the hidden block, one load lifts it", () => {
  const shell = makeTool({ name: "shell", group: "shell", description: "Runs a command" })
  const load = makeTool({ name: "tool_load", group: "toolset", traits: { wayOut: true } })
  const layers: Partial<ReachTurn>[] = [
    { onDemand: ["shell"] },
    { toolset: only("memory") },
    { curated: only("memory") },
  ]
  for (const layer of layers) {
    const step = snapshot(registryOf(shell, load), reachTurn(layer))
    expect(step.specs.map((spec) => spec.name)).toEqual(["tool_load"])
    expect(step.hidden).toEqual([{ name: "shell", group: "shell", description: "Runs a command" }])
    expect(refusal(shell, reachTurn(layer), load)).toContain('tool_load ("shell")')

    const loaded = snapshot(registryOf(shell, load), reachTurn({ ...layer, opened: ["shell"] }))
    expect(loaded.hidden).toEqual([])
    expect(loaded.resolve("shell")).toEqual({ tool: shell })
  }
})

test("a refusal names no loader that this turn does not have", () => {
  const text = refusal(makeTool(), reachTurn({ onDemand: ["echo"] }))
  expect(text).toBe(
    "echo is not among the tools of this step, so the call did not run. The master can bring it into sight, in the settings of the chat or of the kernel.",
  )
})

test("ways out stay visible under sets, curation and chat lists, under a cron list only when named", () => {
  const way = makeTool({ name: "toolset", group: "toolset", traits: { wayOut: true } })
  const guest = guestIdentity()
  const chat: AccessLayer = { source: "chat", access: NO_TOOLS }
  const cron: AccessLayer = { source: "cron", access: only("memory") }
  expect(reach(way, reachTurn({ toolset: only("memory") })).state).toBe("visible")
  expect(reach(way, reachTurn({ curated: only("memory") })).state).toBe("visible")
  expect(reach(way, reachTurn({ onDemand: ["toolset"] })).state).toBe("visible")
  expect(reach(way, reachTurn({ identity: guest, access: [chat] })).state).toBe("visible")
  expect(reach(way, reachTurn({ identity: guest, access: [cron] })).state).toBe("forbidden")
})

test("a set replaces the base lists of a trusted turn, and curation as well", () => {
  const turn = reachTurn({
    access: [{ source: "chat", access: only("memory") }],
    curated: only("memory"),
    toolset: only("shell"),
  })
  expect(reach(makeTool({ name: "shell", group: "shell" }), turn).state).toBe("visible")
  expect(reach(makeTool({ name: "m", group: "memory" }), turn).state).toBe("reserved")
})

test("whoever names a tool in a list or a set means it, whatever is kept on demand", () => {
  const named = (changes: Partial<ReachTurn>) =>
    reach(makeTool(), reachTurn({ onDemand: ["test"], ...changes })).state
  expect(named({})).toBe("reserved")
  expect(named({ toolset: only("echo") })).toBe("visible")
  expect(named({ curated: only("test") })).toBe("visible")
  expect(named({ access: [{ source: "chat", access: only("echo") }] })).toBe("visible")
  expect(named({ access: [{ source: "chat", access: ALL_TOOLS }] })).toBe("reserved")
})

test("GATE-33: only an honest null list is the whole registry", () => {
  expect(readAccess(null)).toEqual({ kind: "all" })
  expect(readAccess('["memory","shell"]')).toEqual(only("memory", "shell"))
  for (const broken of [
    "",
    "null",
    "{}",
    '"memory"',
    "[1]",
    '["memory",null]',
    '["memory"',
    "true",
  ]) {
    expect(readAccess(broken)).toEqual({ kind: "only", names: [] })
  }
})

test("GATE-32: unreadable chat settings leave nothing but the way out", () => {
  const tools = [
    makeTool({ name: "memory_search", group: "memory" }),
    makeTool({ name: "toolset", group: "toolset", traits: { wayOut: true } }),
  ]
  for (const identity of [masterIdentity(), guestIdentity()]) {
    const access: AccessLayer[] = [{ source: "chat", access: readAccess('["memory') }]
    const step = snapshot(registryOf(...tools), reachTurn({ identity, access }))
    expect(step.specs.map((spec) => spec.name)).toEqual(["toolset"])
    expect(step.resolve("memory_search")).toHaveProperty("refusal")
  }
})

test("TURN-006 GATE-37: what a step declared runs although the registry and the turn changed since", () => {
  const tool = makeTool()
  const registry = registryOf(tool)
  const opened: string[] = ["echo"]
  const turn = reachTurn({ onDemand: ["echo"], opened })
  const step = snapshot(registry, turn)

  opened.length = 0
  turn.identity.master = false
  registry.register(makeTool({ name: "later" }))

  expect(step.specs.map((spec) => spec.name)).toEqual(["echo"])
  expect(step.resolve("echo")).toEqual({ tool })
  expect(step.resolve("later")).toHaveProperty("refusal")
  expect(Object.isFrozen(step)).toBe(true)
  expect(Object.isFrozen(step.specs)).toBe(true)
})

test("TURN-008 GATE-39: a tool that vanished after it was offered answers with the cause", () => {
  const registry = registryOf(makeTool({ group: "mcp_maps" }))
  const step = snapshot(registry, reachTurn())
  registry.removeGroup("mcp_maps", "the server maps closed its connection")
  const { refusal: text } = step.resolve("echo") as { refusal: string }
  expect(text).toContain("has gone since (the server maps closed its connection)")
  expect(text).not.toContain("no tool")
})

test("a module that attached anew serves a call its former self declared, unless it closed the tool", () => {
  const registry = registryOf(makeTool({ group: "telegram" }))
  const step = snapshot(registry, reachTurn({ identity: guestIdentity() }))
  registry.removeGroup("telegram", "the module restarted")
  const again = makeTool({ group: "telegram" })
  registry.register(again)
  expect(step.resolve("echo")).toEqual({ tool: again })

  registry.removeGroup("telegram", "the module restarted")
  registry.register(makeTool({ group: "telegram", gates: ["master_only"] }))
  expect(step.resolve("echo")).toHaveProperty("refusal")
})

test("an unknown name is answered with the nearest one in reach, never with a closed one", () => {
  const step = snapshot(
    registryOf(
      makeTool({ name: "cron_list" }),
      makeTool({ name: "shell", gates: ["master_only"] }),
    ),
    reachTurn({ identity: guestIdentity() }),
  )
  expect(step.resolve("cronlist")).toEqual({
    refusal: 'There is no tool "cronlist". Did you mean cron_list?',
  })
  expect(step.resolve("shel")).toEqual({ refusal: 'There is no tool "shel".' })
})

const NAMES = ["alpha", "beta", "gamma", "delta"]
const GROUPS = ["g1", "g2"]
const names = fc.subarray([...NAMES, ...GROUPS])
const access: fc.Arbitrary<ToolAccess> = fc.oneof(
  fc.constant(ALL_TOOLS),
  names.map((list) => only(...list)),
)
const identity = fc.record({
  master: fc.boolean(),
  trusted: fc.boolean(),
  privileged: fc.boolean(),
  anchored: fc.boolean(),
  clientOps: fc.boolean(),
  agent: fc.boolean(),
  hasAgents: fc.boolean(),
  indexedNotes: fc.boolean(),
  planning: fc.boolean(),
  public: fc.boolean(),
})
const turns: fc.Arbitrary<ReachTurn> = fc.record(
  {
    identity,
    access: fc.array(fc.record({ source: fc.constantFrom(...SOURCES), access }), { maxLength: 3 }),
    onDemand: names,
    opened: names,
    toolset: access,
    curated: access,
  },
  { requiredKeys: ["identity", "access", "onDemand", "opened"] },
)
const toolsets: fc.Arbitrary<Tool[]> = fc
  .tuple(
    ...NAMES.map((name) =>
      fc.record({
        name: fc.constant(name),
        group: fc.constantFrom(...GROUPS),
        gates: fc.subarray([...TOOL_GATES], { maxLength: 2 }),
        traits: fc.record({ wayOut: fc.boolean() }),
      }),
    ),
  )
  .map((list) => list.map((changes) => makeTool(changes)))

test("GATE-1 GATE-2 GATE-5 GATE-6 TURN-021 TURN-034: specs, hidden block and refusal never disagree, for all tools and turns", () => {
  fc.assert(
    fc.property(toolsets, turns, (tools, turn) => {
      const step = snapshot(registryOf(...tools), turn)
      const shown = new Set(step.specs.map((spec) => spec.name))
      const listed = new Set(step.hidden.map((entry) => entry.name))
      for (const tool of tools) {
        const state = reach(tool, turn)
        const resolved = step.resolve(tool.name)
        const runs = "tool" in resolved && resolved.tool === tool
        const text = "refusal" in resolved ? resolved.refusal : ""
        const seen = { shown: shown.has(tool.name), listed: listed.has(tool.name), runs }
        switch (state.state) {
          case "visible":
            expect(seen).toEqual({ shown: true, listed: false, runs: true })
            break
          case "reserved":
            expect(seen).toEqual({ shown: false, listed: true, runs: false })
            break
          case "hidden":
            expect(seen).toEqual({ shown: false, listed: false, runs: true })
            break
          case "forbidden":
            expect(seen).toEqual({ shown: false, listed: false, runs: false })
            expect(state.reason.length).toBeGreaterThan(20)
            expect(text).toContain(state.reason)
        }
      }
    }),
    { numRuns: 2000, seed: 1 },
  )
})

test("a raised gate of identity is never passed, whatever is opened, listed or loaded", () => {
  const opens: Record<Exclude<ToolGate, "unlisted">, (turn: TurnIdentity) => boolean> = {
    master_only: (turn) => turn.master,
    trusted_only: (turn) => turn.trusted,
    privileged_only: (turn) => turn.privileged,
    client_only: (turn) => turn.clientOps,
    agent_only: (turn) => turn.agent,
    lead_only: (turn) => !turn.agent,
    needs_agents: (turn) => turn.hasAgents,
    anchored_only: (turn) => turn.anchored,
    indexed_notes_only: (turn) => turn.indexedNotes,
    planning_only: (turn) => turn.planning,
    not_public: (turn) => !turn.public,
  }
  fc.assert(
    fc.property(toolsets, turns, (tools, turn) => {
      for (const tool of tools) {
        const closed = tool.gates.some((gate) => gate !== "unlisted" && !opens[gate](turn.identity))
        if (closed) expect(reach(tool, turn).state).toBe("forbidden")
      }
    }),
    { numRuns: 1000, seed: 2 },
  )
})
