/** The stable part of the prompt: who the agent is, how to read the rest, what holds in this turn. */
import type { SystemPart } from "../../llm/provider.ts"
import type { TurnIdentity } from "../../tools/tool.ts"
import conventions from "./conventions.txt" with { type: "text" }
import critical from "./critical.txt" with { type: "text" }
import memoryRule from "./memory-rule.txt" with { type: "text" }
import noClient from "./no-client.txt" with { type: "text" }
import notesRule from "./notes-rule.txt" with { type: "text" }
import neutralPersona from "./persona.txt" with { type: "text" }
import speakers from "./speakers.txt" with { type: "text" }
import standingRules from "./standing-rules.txt" with { type: "text" }
import trustGuest from "./trust-guest.txt" with { type: "text" }
import trustMaster from "./trust-master.txt" with { type: "text" }
import trustOpen from "./trust-open.txt" with { type: "text" }

export interface SystemView {
  /** The persona file's text; absent uses a neutral one. */
  persona: string | undefined
  identity: TurnIdentity
  /** The turn has an anchor or a named sender, so its messages bear headers. */
  headed: boolean
  /** The model entry's own addition. */
  jailbreak: string | undefined
  /** The part `[project]`; empty without one. */
  project: string
  /** What a trusted client adds for this turn. */
  clientContext: string | undefined
  brief: boolean
  /** Skills, tool sets and hidden tools, as they were at the turn's entry. */
  catalogue: string
  /** The turn is shown the notebook of its chat. */
  hasNotebook: boolean
  /** `0.1.0 (abc1234)` */
  build: string
  cacheMark: boolean
}

/** One part under one cache marker: equal settings give equal bytes, with no clock and no counter inside. */
export function systemParts(view: SystemView): SystemPart[] {
  const text = Object.values(systemPieces(view)).join("\n\n")
  return [{ text, cacheMark: view.cacheMark }]
}

/**
 * What the system part says in this turn, by name. By position: who speaks and who is trusted at the head, what is
 * looked up in the middle, and what must never be forgotten at the very end.
 */
export function systemPieces(view: SystemView): Record<string, string> {
  const { identity } = view
  const pieces: Record<string, string | false | undefined> = {
    persona: view.persona?.trim() || neutralPersona,
    conventions,
    speakers: view.headed && speakers,
    trust: trustText(identity),
    rules: standingRules,
    "memory rule": identity.master && !identity.agent && memoryRule,
    "notes rule": view.hasNotebook && notesRule,
    "model's own": view.jailbreak,
    project: view.project,
    "client context": view.clientContext && `[client context]\n${view.clientContext}`,
    brief: view.brief && "The place you answer in is small: you SHOULD keep the answer brief.",
    build: `[build] eva-kernel ${view.build}`,
    catalogue: view.catalogue,
    critical,
  }
  const said = Object.entries(pieces).map(([name, text]) => [name, text ? text.trim() : ""])
  return Object.fromEntries(said.filter(([, text]) => text !== ""))
}

/** Who leads the turn, who reads along, and whose machine is out of reach. */
function trustText({ master, public: open, clientOps, agent }: TurnIdentity): string {
  if (!master) return trustGuest
  if (open) return trustOpen
  return clientOps || agent ? trustMaster : `${trustMaster.trim()}\n${noClient}`
}
