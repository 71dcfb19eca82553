/** What the turn room is built from: the rooms below it, and the settings it reads. */

import type { ContextAnchor } from "../chats/chats.ts"
import type { NewMessage } from "../chats/message-row.ts"
import type { Summaries } from "../chats/summaries.ts"
import type { Config } from "../config/schema.ts"
import type { Compaction } from "../context/compaction/compaction.ts"
import type { Bus } from "../events/bus.ts"
import type { ProjectReader } from "../files/project-docs.ts"
import type { Clock } from "../lib/clock.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import type { ImageData } from "../llm/provider.ts"
import type { Router } from "../llm/router.ts"
import type { Notebook } from "../notebook/notebook.ts"
import type { Rebuilds } from "../notebook/rebuild.ts"
import type { Plans } from "../plan/plans.ts"
import type { Chat, ChatPatch } from "../schema/chat.ts"
import type { Effort } from "../schema/effort.ts"
import type { Message } from "../schema/message.ts"
import type { PaidTrip, RateLimit } from "../schema/usage.ts"
import type { Skills } from "../skills/skills.ts"
import type { SleepGate } from "../sleep/gate.ts"
import type { Store } from "../store/open.ts"
import type { Freeze } from "../tools/freezer.ts"
import type { Registry } from "../tools/registry.ts"
import type { TurnIdentity } from "../tools/tool.ts"
import type { Toolsets } from "../toolsets/toolsets.ts"
import type { AdmissionParts } from "./admission.ts"
import type { Pending } from "./pending.ts"

export interface TurnSettings {
  maxIterations: number
  maxTokens: number
  maxTokensGuest: number
  /** `llm.reasoning` */
  reasoning: Effort
  temperature: number | undefined
  promptCache: "5m" | "1h" | undefined
  /** Overrides `promptCache` for anchored turns. */
  promptCacheSurface: "5m" | "1h" | "off" | undefined
  magicKeywords: boolean
  /** A model for titles; without one a title is the first line of the first message. */
  summaryModel: string | undefined
  persona: string | undefined
  build: string
  zone: TimeZone
  onDemand: readonly string[]
  context: Config["context"]
  /** How long the questions of one call live. */
  askTtlMs: number
}

export interface NotebookCare {
  /** Rebuilds a notebook that is over its limits. Never throws. */
  tidy: Rebuilds["whenDue"]
}

export interface TurnParts {
  clock: Clock
  log: Log
  store: Store
  bus: Bus
  newId: NewId
  router: Router
  registry: Registry
  freeze: Freeze
  pending: Pending
  /** Closed while the kernel sleeps. */
  gate: Pick<SleepGate, "enter" | "isClosed">
  settings: TurnSettings
  /** Masks what must not leave: secrets of the configuration. */
  redact(text: string): string
  speakerOf: AdmissionParts["speakerOf"]
  personName(id: string): string | undefined
  /** The section `# Memory` for these words, previous ones newest first; empty when there is nothing. */
  recall(
    said: { message: string; previous: readonly string[] },
    identity: TurnIdentity,
  ): Promise<string>
  isKnownModel: AdmissionParts["isKnownModel"]
  /** Reads project files of the working machine. */
  projectReader(signal: AbortSignal): ProjectReader
  toolsets: Pick<Toolsets, "find" | "get" | "list">
  skills: Pick<Skills, "usable">
  chats: {
    get(id: string): Chat
    patch(id: string, patch: ChatPatch): unknown
    contextAnchor(id: string): ContextAnchor | undefined
    setContextAnchor(id: string, tokens: number, messageId: string): void
  }
  summaries: Pick<Summaries, "get" | "isNudged" | "setNudged">
  compaction: Pick<Compaction, "fold">
  plans: Pick<Plans, "ofChat" | "isOpen" | "sweep" | "finish">
  /** Undefined when the agent is to keep none. */
  notebook:
    | (Pick<Notebook, "ofChat" | "enter" | "nextMode" | "settings"> & NotebookCare)
    | undefined
  messages: {
    append(drafts: NewMessage[]): Message[]
    forPrompt(chatId: string, after?: string): Message[]
    ofTurn(chatId: string, turnId: string): Message[]
    after(chatId: string, id: string, limit: number): Message[]
  }
  images: {
    acceptAll: AdmissionParts["acceptImages"]
    keepDrawn(drawn: {
      bytes: Uint8Array
      chatId: string
    }): Promise<{ id: string; media_type: string }>
    load(ids: Iterable<string>): Promise<Map<string, ImageData>>
    url(id: string): string
  }
  spend: {
    record(trip: PaidTrip): void
    noteRateLimits(upstream: string, limits: RateLimit[]): void
  }
}
