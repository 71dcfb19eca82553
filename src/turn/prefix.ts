/** What a chat's next request carries before any of its messages. */
import { type SystemView, systemParts } from "../context/fragments/system.ts"
import { silentLog } from "../lib/log.ts"
import type { ModelEntry } from "../llm/models.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"
import type { ReachTurn } from "../tools/reach.ts"
import type { TurnIdentity } from "../tools/tool.ts"
import { accessOf } from "../toolsets/toolsets.ts"
import { createCatalogue } from "./catalogue.ts"
import { firstToolset, isPlanning } from "./mode.ts"
import type { TurnParts } from "./parts.ts"
import { systemView } from "./step.ts"

/** The widest turn of the chat: the master's own, from a trusted place. */
export const MASTER: TurnIdentity = {
  ...{ master: true, trusted: true, privileged: true, anchored: false, clientOps: false },
  ...{ agent: false, hasAgents: false, indexedNotes: false, planning: false, public: false },
}

export interface Prefix {
  entry: ModelEntry
  system: SystemView
  tools: readonly ToolSpec[]
}

/** Throws not_found for an unknown chat. */
export function prefixOf(parts: TurnParts, chatId: string): Prefix {
  const { router, settings } = parts
  const chat = parts.chats.get(chatId)
  const model = chat.model ?? router.models.roles.general
  const { entry } = router.models.resolve(model)
  const toolset = firstToolset(parts, { wished: undefined, pinned: chat.toolset })
  const narrate = toolset?.narrate === true
  const hasPlan = parts.plans.isOpen(chatId)
  const planning = isPlanning({ identity: MASTER, narrate, hasPlan })
  const indexedNotes = parts.notebook?.nextMode(chatId) === "index"
  const reach: ReachTurn = {
    ...{ identity: { ...MASTER, indexedNotes, planning }, access: [] },
    ...{ onDemand: settings.onDemand, opened: [] },
    ...(toolset && { toolset: accessOf(toolset) }),
  }
  const { specs } = parts.freeze(reach)
  const catalogue = createCatalogue(parts, { reach, toolset, log: silentLog })
  const system = systemView(parts, {
    ...{ entry, identity: MASTER, headed: false },
    ...{ project: "", clientContext: undefined, brief: false, cacheMark: false },
    hasNotebook: parts.notebook !== undefined,
    catalogue: catalogue.text(entry.contextWindow),
  })
  return { entry, system, tools: specs }
}

/** Tokens of the system part and the tools by estimate. Throws not_found for an unknown chat. */
export function prefixTokens(parts: TurnParts, chatId: string): number {
  const { entry, system, tools } = prefixOf(parts, chatId)
  return parts.router.tokens.request(entry.name, {
    system: systemParts(system),
    messages: [],
    tools: [...tools],
    images: new Map(),
  })
}
