/** One turn while it runs: what it was told, what it has said so far, and the levers on it. */
import type { ContextAnchor } from "../chats/chats.ts"
import type { FoldedPast } from "../chats/summaries.ts"
import type { Conversation } from "../context/conversation.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { NotesView } from "../notebook/view.ts"
import type { Chat } from "../schema/chat.ts"
import type { Effort } from "../schema/effort.ts"
import type { Message, ToolUseBlock } from "../schema/message.ts"
import type { Toolset } from "../schema/toolset.ts"
import type { Tool } from "../tools/tool.ts"
import type { Catalogue } from "./catalogue.ts"
import type { LiveTurn } from "./live.ts"
import type { TurnSpec } from "./spec.ts"

export interface RunningTurn {
  spec: TurnSpec
  chat: Chat
  live: LiveTurn
  signal: AbortSignal
  log: Log
  /** The model asked for; a fallback may answer instead. */
  model: string
  /** Effort wished by everything but the model's own entry and the global default. */
  effortWishes: { send: Effort | undefined; chat: Effort | undefined; surface: Effort | undefined }
  /** The agent has raised its effort to this at the least. */
  raised: Effort | undefined
  /** The tool set that is on; what the next step offers follows it. */
  toolset: Toolset | undefined
  /** The agent has taken the cap of requests off. */
  lifted: boolean
  /** The set at the turn's entry lets answers be long; the system part does not change in mid-turn. */
  saysAtLength: boolean
  /** Lists of the system part, as they were at the turn's entry. */
  catalogue: Catalogue
  /** Provider trips begun. */
  step: number
  /** Tools of this turn alone. */
  extraTools: readonly Tool[]
  /** Names and groups loaded in this turn: in sight from the next step. */
  opened: Set<string>
  /** How often in a row this very call has come now. */
  streak: (call: ToolUseBlock) => number
  conversation: Conversation
  /** What is told of the part before it; undefined when nothing is folded. */
  folded: FoldedPast | undefined
  /** The provider's newest own count of the context, at one of its messages; undefined when none holds. */
  counted: ContextAnchor | undefined
  /** The line `[window]`; empty while the history is far from its fold. */
  window: string
  /** The part `[project]`, as it was at the turn's entry. */
  project: string
  /** The section `# Memory`, as it was at the turn's entry. */
  memory: string
  /** The chat had unfinished work in its plan when the turn began. */
  hasPlan: boolean
  /** What the turn knows of the notebook; undefined when it is shown none. */
  notes: NotesView | undefined
  /** Messages without a turn that a provider refused as they stand. */
  refusedMessages: ReadonlySet<string>
  /** Keeps these messages out of the past of every later turn: a provider refused them as they stand. */
  exclude(messages: readonly Message[]): void
  /** Ids that keep the turn's messages together, whatever was admitted meanwhile. */
  newMessageId: NewId
}
