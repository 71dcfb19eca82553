/**
 * Folds the older part of a chat's history into a summary, as one shift hands over to the next. The messages stay
 * where they are and stay searchable; prompts begin behind them. A fold is on disk whole or not at all, and one that
 * frees nothing does not happen.
 */
import type { Messages } from "../../chats/messages.ts"
import type { FoldedPast, Summaries } from "../../chats/summaries.ts"
import type { Config } from "../../config/schema.ts"
import { keyedQueue } from "../../lib/async.ts"
import type { Log } from "../../lib/log.ts"
import type { Router } from "../../llm/router.ts"
import type { Message } from "../../schema/message.ts"
import type { CompactProfile, VerbatimLine } from "../../schema/summary.ts"
import type { PaidTrip } from "../../schema/usage.ts"
import type { SpeakerView } from "../fragments/speaker.ts"
import { compactAfter } from "../profile.ts"
import { type FoldPlan, planFold } from "./plan-fold.ts"
import { summarise } from "./summarise.ts"
import { transcriptOf } from "./transcript.ts"
import { keepVerbatim } from "./verbatim.ts"
import { type Scales, weigh } from "./weights.ts"

export interface CompactionParts {
  router: Router
  summaries: Pick<Summaries, "get" | "fold" | "replace">
  messages: Pick<Messages, "forPrompt" | "runningTurns">
  log: Log
  view: SpeakerView
  context: Config["context"]
  /** Writes summaries; absent, the chat's own model does. */
  summaryModel: string | undefined
  /** In a transaction of its own. */
  recordSpend(trip: PaidTrip): void
}

export interface FoldRequest {
  chatId: string
  /** The chat's model: tokens are counted by it. */
  model: string
  profile: CompactProfile
  traffic: Scales["traffic"]
  plan: FoldPlan
  /** Tokens that a model's window leaves for the history, where that is less than the profile's threshold. */
  room?: number
  /** The turn in which it happens, with ids that keep its messages together. */
  turn?: { id: string; markId?: string }
  /** Also where a fold of nearly the same history freed nothing. */
  insist?: boolean
  signal: AbortSignal
  /** Something will be folded. */
  onStart?(): void
  progress?(done: number, all: number): void
}

/** `failed` tells a summary that did not come about from a history of which nothing can be folded. */
export type FoldResult =
  | { folded: true; messages: number; freedTokens: number; past: FoldedPast }
  | { folded: false; failed: boolean; reason: string }

export type Compaction = ReturnType<typeof createCompaction>

export function createCompaction(parts: CompactionParts) {
  const queue = keyedQueue<string>()
  /** What a history weighed when its fold freed nothing: until it has grown, another would free nothing, too. */
  const stalled = new Map<string, number>()
  return {
    /** Throws not_found for an unknown chat. A failure of the model is a result. */
    fold: (request: FoldRequest): Promise<FoldResult> =>
      queue.run(request.chatId, () => fold(parts, stalled, request)),
    /** Writes the summary anew out of the messages themselves. */
    rebuild: (request: Omit<FoldRequest, "plan" | "insist">): Promise<FoldResult> =>
      queue.run(request.chatId, () => rebuild(parts, request)),
  }
}

/** So much heavier must a history be for another try after one that freed nothing. */
const STALLED_GROWTH = 1.2

async function fold(
  parts: CompactionParts,
  stalled: Map<string, number>,
  request: FoldRequest,
): Promise<FoldResult> {
  const { chatId } = request
  const before = parts.summaries.get(chatId)
  const messages = closedPart(parts, request, parts.messages.forPrompt(chatId, before?.upto))
  const scales = scalesOf(parts, request)
  const weights = weigh(messages, scales)
  const total = sum(weights)
  if (!request.insist && total < (stalled.get(chatId) ?? 0) * STALLED_GROWTH) {
    return notFolded("folding so little more would free nothing")
  }
  const count = planFold(messages, weights, request.plan)
  if (count === 0) return notFolded("there is nothing older than what stays")
  request.onStart?.()
  const material = messages.slice(0, count)
  const told = await tell(parts, request, { material, before })
  if ("folded" in told) return told
  const weightOf = (past: Pick<FoldedPast, "text" | "verbatim">): number =>
    sum([past.text, ...past.verbatim.map(({ text }) => text)].map(scales.textTokens))
  const was = sum(weights.slice(0, count)) + (before ? weightOf(before) : 0)
  const freedTokens = was - weightOf(told)
  if (freedTokens <= 0) {
    stalled.set(chatId, total)
    return notFolded("the summary would be as long as what it sums up")
  }
  stalled.delete(chatId)
  const past = { ...told, upto: material.at(-1)!.id }
  const { id = null, markId } = request.turn ?? {}
  const stored = parts.summaries.fold(chatId, { before: before?.upto, past, turnId: id, markId })
  if (!stored) return notFolded("the history was changed meanwhile", true)
  parts.log.info("older history is folded", {
    ...{ chat_id: chatId, messages: count, freed_tokens: freedTokens },
  })
  return { folded: true, messages: count, freedTokens, past }
}

async function rebuild(
  parts: CompactionParts,
  request: Omit<FoldRequest, "plan" | "insist">,
): Promise<FoldResult> {
  const { chatId } = request
  const before = parts.summaries.get(chatId)
  if (!before) return notFolded("nothing of this chat is folded yet")
  const material = parts.messages.forPrompt(chatId).filter(({ id }) => id <= before.upto)
  request.onStart?.()
  const told = await tell(parts, request, { material, before: undefined })
  if ("folded" in told) return told
  const past = { ...told, upto: before.upto }
  if (!parts.summaries.replace(chatId, { before: before.upto, past })) {
    return notFolded("the history was changed meanwhile", true)
  }
  return { folded: true, messages: material.length, freedTokens: 0, past }
}

/** The summary and the master's words for this material behind what was folded before. */
async function tell(
  parts: CompactionParts,
  request: Omit<FoldRequest, "plan">,
  { material, before }: { material: readonly Message[]; before: FoldedPast | undefined },
): Promise<{ text: string; verbatim: readonly VerbatimLine[] } | FoldResult> {
  const { chatId, signal, progress, turn } = request
  const budget = budgetOf(parts, request)
  const summary = await summarise(parts.router, {
    ...{ chatId, signal, tokens: budget.summary, former: before?.text ?? "" },
    model: parts.summaryModel ?? request.model,
    transcript: transcriptOf(material, parts.view),
    progress: progress ?? (() => {}),
  })
  const { model, usage } = summary
  if (usage.prompt_tokens + usage.completion_tokens > 0) {
    const trip = { chatId, source: "compaction", model, usage, reasoningCost: null }
    parts.recordSpend({ ...trip, ...(turn && { turnId: turn.id }) })
  }
  if ("failure" in summary) {
    parts.log.warn("history could not be folded", { chat_id: chatId, error: summary.failure })
    return notFolded(summary.failure, true)
  }
  const { textTokens } = scalesOf(parts, request)
  const words = { tokens: budget.verbatim, textTokens }
  return { text: summary.text, verbatim: keepVerbatim(material, before?.verbatim ?? [], words) }
}

const SUMMARY = { share: 0.2, least: 400, most: 8000 } as const

/** Tokens of the summary and of the words beside it: shares of what the history may weigh at all. */
function budgetOf(
  { context }: CompactionParts,
  { profile, room = Number.POSITIVE_INFINITY }: Pick<FoldRequest, "profile" | "room">,
): { summary: number; verbatim: number } {
  const limit = Math.min(compactAfter(context, profile), room)
  const summary = Math.floor(limit * SUMMARY.share)
  return {
    summary: Math.min(SUMMARY.most, Math.max(SUMMARY.least, summary)),
    verbatim: Math.floor((limit * context.compact_verbatim_percent) / 100),
  }
}

/** Up to the first message of another turn that waits or runs: it is nobody's past yet. */
function closedPart(
  parts: CompactionParts,
  { chatId, turn }: FoldRequest,
  messages: readonly Message[],
): readonly Message[] {
  const open = parts.messages.runningTurns(chatId)
  const end = messages.findIndex(
    ({ turn_id }) => turn_id !== null && turn_id !== turn?.id && open.has(turn_id),
  )
  return end < 0 ? messages : messages.slice(0, end)
}

const scalesOf = (
  { router }: CompactionParts,
  { model, traffic }: Pick<FoldRequest, "model" | "traffic">,
): Scales => ({
  traffic,
  textTokens: (text) => router.tokens.text(model, text),
})

const notFolded = (reason: string, failed = false): FoldResult => ({
  ...{ folded: false, failed, reason },
})

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
