/** The messages of a turn: the past, planned and rendered once however many steps follow, and its own. */
import type { ModelMessage } from "../llm/provider.ts"
import type { Message } from "../schema/message.ts"
import { continueHistory, type HistoryView, historyForModel, type Rendered } from "./history.ts"
import { TurnSqueeze } from "./squeeze.ts"
import { planPast, type TrafficSettings } from "./traffic.ts"

export interface ConversationSettings extends TrafficSettings {
  /** Tokens of the turn's own traffic at which the older part is shown in short; 0 never. */
  squeezeAt: number
}

export type ConversationView = Omit<HistoryView, "results">

/** What a request shows of a conversation, and where it may be cached. */
export interface ShownConversation {
  messages: readonly ModelMessage[]
  /** A cache marker belongs behind so many of the messages, the last of all. */
  stable: number
  /** The request before was marked behind so many of them. */
  stableBefore: number
}

export type Conversation = ReturnType<typeof createConversation>

export function createConversation(
  past: readonly Message[],
  begun: readonly Message[],
  settings: ConversationSettings,
) {
  const own = [...begun]
  const plan = planPast(past, settings)
  const squeeze = new TurnSqueeze(settings, settings.squeezeAt)
  const rendered = new Map<boolean, Rendered>()

  const renderPast = (view: HistoryView): Rendered => {
    const before = rendered.get(view.vision) ?? historyForModel(past, view, plan.forms)
    rendered.set(view.vision, before)
    return before
  }

  const render = (view: HistoryView): Rendered => {
    // Pictures are bounded over the whole request, so a turn with pictures renders everything anew.
    if (own.some((message) => message.blocks.some((block) => block.type === "image"))) {
      return historyForModel([...past, ...own], view, new Map([...plan.forms, ...squeeze.forms]))
    }
    return continueHistory(renderPast(view), own, { ...view, forms: squeeze.forms })
  }

  return {
    /** What was said before this turn. */
    past,
    /** Messages that this turn stored, the newest last. */
    own: own as readonly Message[],
    add: (messages: readonly Message[]) => own.push(...messages),
    /** Shows older traffic of the turn in short when it has grown too heavy; the characters freed by it. */
    squeeze: (tokensOf: (text: string) => number): number => squeeze.run(own, tokensOf),
    /** Some of the turn's traffic is shown in short by now. */
    isSqueezed: (): boolean => squeeze.forms.size > 0,
    /** With another past, as when some of it must be left out. */
    withPast: (kept: readonly Message[]) => createConversation(kept, own, settings),
    /** For a model with or without eyes. */
    shown: (view: ConversationView): ShownConversation => {
      const { shown, over } = render({ ...view, results: settings })
      const isFirst = !own.some((message) => message.role === "assistant")
      const hasMoved = isFirst && plan.boundaryBefore !== plan.boundary
      return {
        messages: shown,
        stable: over[plan.boundary]!,
        stableBefore: hasMoved ? over[plan.boundaryBefore]! : previousTail(shown),
      }
    },
  }
}

/** The request before ended with the user's message before the last answer. */
const previousTail = (shown: readonly ModelMessage[]): number => {
  const answer = shown.findLastIndex((message) => message.role === "assistant")
  return Math.max(0, answer)
}
