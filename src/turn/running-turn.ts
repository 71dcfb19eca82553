/** One turn while it runs: what it was told, what it has said so far, and the levers on it. */
import { continueHistory, type HistoryView, historyForModel } from "../context/history.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { ModelMessage } from "../llm/provider.ts"
import type { Chat } from "../schema/chat.ts"
import type { Effort } from "../schema/effort.ts"
import type { Message, ToolUseBlock } from "../schema/message.ts"
import type { Tool } from "../tools/tool.ts"
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
  /** Provider trips begun. */
  step: number
  /** Tools of this turn alone. */
  extraTools: readonly Tool[]
  /** Names and groups loaded in this turn: in sight from the next step. */
  opened: Set<string>
  /** How often in a row this very call has come now. */
  streak: (call: ToolUseBlock) => number
  conversation: Conversation
  /** The section `# Memory`, as it was at the turn's entry. */
  memory: string
  /** Keeps these messages out of the past of every later turn: a provider refused them as they stand. */
  exclude(messages: readonly Message[]): void
  /** Ids that keep the turn's messages together, whatever was admitted meanwhile. */
  newMessageId: NewId
}

export type Conversation = ReturnType<typeof createConversation>

/** The messages of a turn: the past, rendered once however many steps follow, and its own, which only grow. */
export function createConversation(past: readonly Message[], begun: readonly Message[]) {
  const own = [...begun]
  const rendered = new Map<boolean, ModelMessage[]>()

  return {
    /** What was said before this turn. */
    past,
    /** Messages that this turn stored, the newest last. */
    own: own as readonly Message[],
    add: (messages: readonly Message[]) => own.push(...messages),
    /** For a model with or without eyes. */
    shown: (view: HistoryView): ModelMessage[] => {
      // Pictures are bounded over the whole request, so a turn with pictures renders everything anew.
      if (own.some((message) => message.blocks.some((block) => block.type === "image"))) {
        return historyForModel([...past, ...own], view)
      }
      const before = rendered.get(view.vision) ?? historyForModel(past, view)
      rendered.set(view.vision, before)
      return continueHistory(before, own, { ...view, behind: past })
    },
  }
}
