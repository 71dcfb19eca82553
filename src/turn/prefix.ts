/** What a chat's next request carries before any of its messages. */
import { snapshot as freezeTools } from "../tools/snapshot.ts"
import type { TurnIdentity } from "../tools/tool.ts"
import type { TurnParts } from "./parts.ts"
import { systemFor } from "./step.ts"

/** The widest turn of the chat: the master's own, from a trusted place. */
const MASTER: TurnIdentity = {
  ...{ master: true, trusted: true, privileged: true, anchored: false, clientOps: false },
  ...{ agent: false, hasAgents: false, indexedNotes: false, planning: false, public: false },
}

/** Tokens of the system part and the tools by estimate. Throws not_found for an unknown chat. */
export function prefixTokens(parts: TurnParts, chatId: string): number {
  const { router, registry, settings } = parts
  const model = parts.chats.get(chatId).model ?? router.models.roles.general
  const { entry } = router.models.resolve(model)
  const { specs } = freezeTools(registry, {
    identity: MASTER,
    access: [],
    onDemand: settings.onDemand,
    opened: [],
  })
  return router.tokens.request(entry.name, {
    system: systemFor(parts, {
      ...{ entry, identity: MASTER, headed: false },
      ...{ clientContext: undefined, brief: false, cacheMark: false },
    }),
    messages: [],
    tools: [...specs],
    images: new Map(),
  })
}
