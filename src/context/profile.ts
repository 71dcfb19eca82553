/** How soon a chat's history is folded: cron jobs first, then chats of a surface, the master's own last. */
import type { Config } from "../config/schema.ts"
import type { CompactProfile } from "../schema/summary.ts"

type ContextConfig = Config["context"]

/** What the chat is decides, never who wrote into it; a pinned profile decides before all. */
export function compactProfile(
  context: Pick<ContextConfig, "aggressive_folders">,
  chat: { surface: string | null; folder: string; compact_profile: CompactProfile | null },
  source: string,
): CompactProfile {
  if (chat.compact_profile !== null) return chat.compact_profile
  if (source === "cron") return "low"
  const isAggressive = chat.surface !== null || isListed(context.aggressive_folders, chat.folder)
  return isAggressive ? "med" : "high"
}

/** The tokens at which a chat of this profile is folded. */
export const compactAfter = (context: ContextConfig, profile: CompactProfile): number =>
  sectionOf(context, profile).compact_after_tokens

/** The tokens of history that a fold leaves as they are: never so many that the next message folds again. */
export function compactKeep(context: ContextConfig, profile: CompactProfile): number {
  const { compact_keep_tokens, compact_after_tokens } = sectionOf(context, profile)
  return Math.min(compact_keep_tokens, Math.floor(compact_after_tokens / 2))
}

const sectionOf = (context: ContextConfig, profile: CompactProfile) =>
  ({ low: context.cron, med: context.telegram, high: context })[profile]

/** Whether a folder is among these; one that ends in `*` stands for all that begin so. */
export const isListed = (folders: readonly string[], folder: string): boolean =>
  folders.some((listed) =>
    listed.endsWith("*") ? folder.startsWith(listed.slice(0, -1)) : folder === listed,
  )
