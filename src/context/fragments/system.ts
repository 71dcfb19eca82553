/** The stable part of the prompt: who the agent is, how to read the rest, what build it runs on. */
import type { SystemPart } from "../../llm/provider.ts"
import conventions from "./conventions.txt" with { type: "text" }
import critical from "./critical.txt" with { type: "text" }
import memoryRule from "./memory-rule.txt" with { type: "text" }
import neutralPersona from "./persona.txt" with { type: "text" }

export interface SystemView {
  /** The persona file's text; absent uses a neutral one. */
  persona: string | undefined
  /** The model entry's own addition. */
  jailbreak: string | undefined
  /** What a trusted client adds for this turn. */
  clientContext: string | undefined
  brief: boolean
  /** The turn may save memories: it is told when. */
  savesMemories: boolean
  /** `0.1.0 (abc1234)` */
  build: string
  cacheMark: boolean
}

/** One part under one cache marker: equal settings give equal bytes, with no clock and no counter inside. */
export function systemParts(view: SystemView): SystemPart[] {
  const pieces = [
    view.persona?.trim() || neutralPersona.trim(),
    conventions.trim(),
    view.savesMemories && memoryRule.trim(),
    view.jailbreak?.trim(),
    view.clientContext && `[client context]\n${view.clientContext}`,
    view.brief && "The place you answer in is small: you SHOULD keep the answer brief.",
    `[build] eva-kernel ${view.build}`,
    critical.trim(),
  ]
  return [{ text: pieces.filter(Boolean).join("\n\n"), cacheMark: view.cacheMark }]
}
