/** What the API is built from: the rooms below it, and the settings it reads. */
import type { Chats } from "../chats/chats.ts"
import type { Items } from "../chats/items.ts"
import type { Messages } from "../chats/messages.ts"
import type { Summaries } from "../chats/summaries.ts"
import type { Config } from "../config/schema.ts"
import type { HandFolds } from "../context/compaction/hand-folds.ts"
import type { Bus } from "../events/bus.ts"
import type { Images } from "../images/images.ts"
import type { Clock } from "../lib/clock.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import type { Models } from "../llm/models.ts"
import type { Memories } from "../memory/memories.ts"
import type { Notebook } from "../notebook/notebook.ts"
import type { Rebuilds } from "../notebook/rebuild.ts"
import type { Persons } from "../persons/persons.ts"
import type { Plans } from "../plan/plans.ts"
import type { BytesPiece, ReadBytes } from "../schema/client-op.ts"
import type { Complete, Completion } from "../schema/complete.ts"
import type { FilesRestored, FileWriter, RestoreFiles } from "../schema/files.ts"
import type { Skills } from "../skills/skills.ts"
import type { Sleep } from "../sleep/sleep.ts"
import type { Spend } from "../spend/spend.ts"
import type { Registry } from "../tools/registry.ts"
import type { Toolsets } from "../toolsets/toolsets.ts"
import type { Turns } from "../turn/turns.ts"

export interface ApiParts {
  config: Config
  build: { version: string; commit: string }
  log: Log
  clock: Clock
  newId: NewId
  bus: Bus
  turns: Pick<
    Turns,
    | "send"
    | "silent"
    | "follow"
    | "liveOf"
    | "replayFinished"
    | "cancelChat"
    | "cancel"
    | "generations"
    | "prefixTokens"
    | "contextReport"
    | "opResult"
    | "opWaits"
    | "opProgress"
    | "questionAnswer"
    | "readClientBytes"
  >
  chats: Chats
  messages: Messages
  items: Items
  summaries: Pick<Summaries, "get" | "setText">
  /** Folds that a client asks for. Throws not_found. */
  folds: HandFolds
  notebook: Pick<Notebook, "list" | "save" | "remove" | "look" | "restore">
  plans: Pick<Plans, "ofChat" | "erase">
  /** Of notebooks, when a client asks for one. Throws not_found. */
  noteRebuilds: Pick<Rebuilds, "now">
  persons: Persons
  memories: Memories
  sleep: Sleep
  skills: Pick<Skills, "list">
  toolsets: Pick<Toolsets, "list">
  images: Pick<Images, "read">
  /** Files that turns wrote. `restore` throws KernelError: not_found, conflict. */
  files: {
    /** Of this machine. Throws KernelError: not_found, invalid. */
    readBytes(piece: ReadBytes): Promise<BytesPiece>
    writers(chatId: string): FileWriter[]
    restore(chatId: string, body: RestoreFiles): Promise<FilesRestored>
  }
  spend: Spend
  registry: Registry
  models: Models
  /**
   * A one-shot answer. Throws `invalid` when the provider refuses on substance and `unavailable` when it
   * cannot answer now; the signal fires when nobody waits any more.
   */
  complete(body: Complete, signal: AbortSignal): Promise<Completion>
  /** The master's time zone. */
  zone: Pick<TimeZone, "name">
  /** Other limits than the usual ones, for tests of them. */
  streams?: { heartbeatMs?: number; queueBytes?: number }
}
