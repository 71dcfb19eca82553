/** How soon a chat's history is folded: cron jobs first, then chats of a surface, the master's own last. */
import type { Config } from "../config/schema.ts"

export type CompactProfile = "low" | "med" | "high"

/** What the chat is decides, never who wrote into it. */
export function compactProfile(chat: { surface: string | null }, source: string): CompactProfile {
  if (source === "cron") return "low"
  return chat.surface === null ? "high" : "med"
}

/** The tokens at which a chat of this profile is folded. */
export function compactAfter(context: Config["context"], profile: CompactProfile): number {
  const sections = { low: context.cron, med: context.telegram, high: context }
  return sections[profile].compact_after_tokens
}
