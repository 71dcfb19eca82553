/** The whole configuration as one schema, and the sections that are known but have no schema yet. */
import { type Static, Type } from "@sinclair/typebox"
import { BudgetSection } from "./sections/budget.ts"
import { ChatsSection } from "./sections/chats.ts"
import { ContextSection } from "./sections/context.ts"
import { DbSection } from "./sections/db.ts"
import { FilesSection } from "./sections/files.ts"
import { ImagesSection } from "./sections/images.ts"
import { LlmSection } from "./sections/llm.ts"
import { LogSection } from "./sections/log.ts"
import { MasterSection } from "./sections/master.ts"
import { MemorySection } from "./sections/memory.ts"
import { NotesSection } from "./sections/notes.ts"
import { PersonaSection } from "./sections/persona.ts"
import { SecretsSection } from "./sections/secrets.ts"
import { ServerSection } from "./sections/server.ts"
import { ShellSection } from "./sections/shell.ts"
import { SleepSection } from "./sections/sleep.ts"
import { ToolsSection } from "./sections/tools.ts"
import { WebSection } from "./sections/web.ts"

/**
 * The resolved configuration: the keys of the file, every default filled in, durations as milliseconds,
 * sizes as bytes, paths absolute.
 */
export const Config = Type.Object({
  server: ServerSection,
  db: DbSection,
  llm: LlmSection,
  images: ImagesSection,
  files: FilesSection,
  context: ContextSection,
  chats: ChatsSection,
  tools: ToolsSection,
  shell: ShellSection,
  web: WebSection,
  persona: PersonaSection,
  master: MasterSection,
  memory: MemorySection,
  sleep: SleepSection,
  notes: NotesSection,
  budget: BudgetSection,
  log: LogSection,
  secrets: SecretsSection,
})
export type Config = Static<typeof Config>

/** A configuration file must hold these; every other section may be absent. */
export const REQUIRED_SECTIONS = ["server", "db", "llm"] as const

/** Sections of features to come: they load with one warning and have no effect. */
export const UNBUILT_SECTIONS: readonly string[] = [
  "chat_sleep",
  "advisor",
  "mcp",
  "modules",
  "notify",
  "cron",
]
