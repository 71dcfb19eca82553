/**
 * The lattice: each tool has exactly one state in a turn, and everything that shows, hides or refuses a
 * tool asks here. Two layers, never mixed: rights say what may happen at all (Forbidden), attention says
 * what stands in the prompt now (Reserved, one `tool_load` lifts it).
 */
import type { ToolGate } from "../schema/tool-spec.ts"
import { admits, namesTool } from "./access.ts"
import type { Tool, ToolAccess, TurnIdentity } from "./tool.ts"

export type Reach =
  /** Its spec goes to the model and its call runs. */
  | { state: "visible" }
  /** Name and purpose stand in the hidden-tools block; a call is refused until it is loaded. */
  | { state: "reserved" }
  /** Runs when called by name, shown nowhere: the old name of a renamed tool. */
  | { state: "hidden" }
  /** Shown nowhere and never run. */
  | { state: "forbidden"; reason: string }

/** A whitelist that bounds a turn, and whose it is. */
export interface AccessLayer {
  /** `request`: the send's field `tools` · `chat`: the chat's switches · `cron`: the job's · `agent`: a sub-agent's */
  source: "request" | "chat" | "cron" | "agent"
  access: ToolAccess
}

export interface ReachTurn {
  identity: TurnIdentity
  /** A tool must be admitted by each of these. */
  access: readonly AccessLayer[]
  /** The active tool set. */
  toolset?: ToolAccess
  /** What the chat's own sleep left in sight; not asked while a set is active. */
  curated?: ToolAccess
  /** Names and groups kept out of the default list. */
  onDemand: readonly string[]
  /** Names and groups loaded in this turn. */
  opened: readonly string[]
}

export function reach(tool: Tool, turn: ReachTurn): Reach {
  const reason = closedGate(tool, turn.identity) ?? closedList(tool, turn)
  if (reason !== undefined) return { state: "forbidden", reason }
  if (tool.gates.includes("unlisted")) return { state: "hidden" }
  return inSight(tool, turn) ? { state: "visible" } : { state: "reserved" }
}

interface Gate {
  open(identity: TurnIdentity): boolean
  /** Who could allow it: completes "… is closed in this turn: ". */
  reason: string
}

const GATES: Record<Exclude<ToolGate, "unlisted">, Gate> = {
  master_only: {
    open: (turn) => turn.master,
    reason: "only the master may have it used, in a turn of his own",
  },
  trusted_only: {
    open: (turn) => turn.trusted,
    reason:
      "it works only from a trusted place, which is a client of the master's or his private chat",
  },
  privileged_only: {
    open: (turn) => turn.privileged,
    reason: "it is for users on the allow list, which the master keeps, and not for guests",
  },
  client_only: {
    open: (turn) => turn.clientOps,
    reason: "the client of this turn must run it and does not offer client operations",
  },
  agent_only: {
    open: (turn) => turn.agent,
    reason: "only a sub-agent may use it, to report to its lead",
  },
  lead_only: {
    open: (turn) => !turn.agent,
    reason: "a sub-agent may not use it; its lead can",
  },
  needs_agents: {
    open: (turn) => turn.hasAgents,
    reason: "this chat has no live sub-agent; spawn one with agent_spawn first",
  },
  anchored_only: {
    open: (turn) => turn.anchored,
    reason: "it works only in a turn that answers a message of an outside surface",
  },
  indexed_notes_only: {
    open: (turn) => turn.indexedNotes,
    reason:
      "the notebook stands in the prompt in full, so there is nothing more to read; the master can have it shown as an index",
  },
  planning_only: {
    open: (turn) => turn.planning,
    reason:
      "a plan is kept only in a working turn of the master's: a client with file access, a working tool set, a sub-agent or an open plan",
  },
  not_public: {
    open: (turn) => !turn.public,
    reason:
      "it does not exist where guests may read along; the master can ask for it in a chat of his own",
  },
}

function closedGate(tool: Tool, identity: TurnIdentity): string | undefined {
  for (const gate of tool.gates) {
    if (gate !== "unlisted" && !GATES[gate].open(identity)) return GATES[gate].reason
  }
  return undefined
}

const LISTS: Record<AccessLayer["source"], string> = {
  request: "the surface that sent the message did not offer it; the master can, in its settings",
  chat: "it is switched off in this chat; the master can switch it on in the chat's settings",
  cron: "it is not on the tool list of this cron job; the master can add it with cron_update",
  agent: "it is not among this sub-agent's tools; the lead can spawn one with a wider set",
}

/**
 * The whitelists as rights. In a trusted turn the lists of request and chat only narrow what is in sight,
 * since there the agent may bring back anything; elsewhere they are a ceiling that no loading passes.
 */
function closedList(tool: Tool, turn: ReachTurn): string | undefined {
  const closed = turn.access.find(
    (layer) => isCeiling(layer, turn) && !admitsOrLeadsOut(layer, tool),
  )
  return closed && LISTS[closed.source]
}

const isBase = (layer: AccessLayer): boolean =>
  layer.source === "request" || layer.source === "chat"

const isCeiling = (layer: AccessLayer, turn: ReachTurn): boolean =>
  !(isBase(layer) && turn.identity.trusted)

/** Cron jobs and sub-agents get the ways out only when they are named: a job's list is all it needs. */
const admitsOrLeadsOut = (layer: AccessLayer, tool: Tool): boolean =>
  admits(layer.access, tool) || (isBase(layer) && tool.traits.wayOut === true)

/** The attention layer of a tool that is within rights. */
function inSight(tool: Tool, turn: ReachTurn): boolean {
  if (tool.traits.wayOut || namesTool(turn.opened, tool)) return true
  const narrowing = attentionLists(turn)
  if (!narrowing.every((access) => admits(access, tool))) return false
  if (!namesTool(turn.onDemand, tool)) return true
  // Whoever names a tool in a set or a list means it: that beats the general wish to keep it out.
  const explicit = [...narrowing, ...turn.access.map((layer) => layer.access)]
  return explicit.some((access) => access.kind === "only" && namesTool(access.names, tool))
}

/** In a trusted turn an active set replaces request and chat lists; elsewhere those are rights already. */
function attentionLists(turn: ReachTurn): ToolAccess[] {
  if (turn.toolset) return [turn.toolset]
  const base = turn.identity.trusted ? turn.access.filter(isBase).map((layer) => layer.access) : []
  return turn.curated ? [...base, turn.curated] : base
}
