/**
 * The sets of a new kernel: a start, to be changed in use. They name groups, so a family that this build does
 * not have matches nothing. What helps in any kind of work is in all of them.
 */
import type { ToolsetDraft } from "./draft.ts"
import coding from "./hint-coding.txt" with { type: "text" }
import ops from "./hint-ops.txt" with { type: "text" }

const ALWAYS = ["ask", "history", "memory", "chat_note_read", "chat_note_save"]
const WORKING = { uncapped: true, narrate: true, no_brevity: true }

export const SEEDS: readonly ToolsetDraft[] = [
  {
    name: "coding",
    description: "Programs and repositories: files, patches, shells, a stronger model's advice",
    tools: [...ALWAYS, "client", "shell", "code", "web", "turn", "agent"],
    hint: coding,
    ...WORKING,
  },
  {
    name: "ops",
    description: "Servers, services, timers: shells, files, cron jobs, rules, modules",
    tools: [...ALWAYS, "client", "shell", "cron", "rules", "module", "web", "turn"],
    hint: ops,
    ...WORKING,
  },
  {
    name: "social",
    description: "People and their chats: messengers, persons, pictures",
    tools: [...ALWAYS, "telegram", "person", "chat", "images", "web"],
  },
  {
    name: "research",
    description: "Finding out and comparing: web, files, what was said before",
    tools: [...ALWAYS, "web", "catalog", "client", "turn", "agent"],
  },
  {
    name: "money",
    description: "Spending, prices, accounts: figures of use, web, files",
    tools: [...ALWAYS, "web", "client", "cron"],
  },
]
