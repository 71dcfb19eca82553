/**
 * The turn loop, which reads as its own specification: ask the model, store its answer, settle its calls,
 * ask again, until it answers without calls or a limit ends it.
 */
import { closedIds } from "../context/fragments/closing-line.ts"
import { KernelError } from "../lib/error.ts"
import { reasoningCost } from "../llm/price.ts"
import type { ProviderFailure } from "../llm/provider.ts"
import type { Message, ToolUseBlock } from "../schema/message.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"
import type { Usage } from "../schema/usage.ts"
import { takeFittingStep } from "./fitting-step.ts"
import { foldWhenFull, followFold } from "./folding.ts"
import { isUncapped } from "./mode.ts"
import { tidyNotebook } from "./notebook.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"
import { settleCalls } from "./settle.ts"
import { emitUsage, type StepAnswer } from "./step.ts"
import { stepTools } from "./step-tools.ts"
import type { TurnOutcome } from "./store.ts"
import { settleWindowLine } from "./window-line.ts"

/** How often in a row a call may be cut by the output limit before the turn gives up. */
const CUT_CALLS_MAX = 2

/** How the turn ended. The last answer is stored together with it, in one transaction. */
export interface LoopEnd {
  outcome: TurnOutcome
  /** A failure that a later try may not meet. */
  retryable: boolean
}

export async function runLoop(
  parts: TurnParts,
  turn: RunningTurn,
  close: (end: LoopEnd) => void,
): Promise<LoopEnd> {
  let cutInARow = 0
  for (;;) {
    if (turn.signal.aborted) return finish(parts, close, cancelled())
    turn.step++
    if (turn.step > 1) followFold(parts, turn)
    squeeze(parts, turn)
    const tools = stepTools(parts, turn)
    if (turn.step === 1) settleWindowLine(parts, turn, tools.specs)
    const answer = await takeFittingStep(parts, turn, tools)
    const calls = callsOf(answer)
    const last = endOfStep(turn, answer, calls)

    await storeAnswer(parts, turn, { answer, end: last, close })
    emitUsage(turn, answer)
    if (last?.outcome.state === "done") await tidyUp(parts, turn, tools.specs)
    if (last) return last

    const settled = await settleCalls(parts, turn, {
      blocks: calls,
      snapshot: tools,
      cutCallId: answer.cutCallId,
    })
    cutInARow = answer.cutCallId === undefined ? 0 : cutInARow + 1
    const end = endAfterCalls(parts, turn, { ...settled, cutInARow })
    if (!end) continue
    finish(parts, close, end)
    if (end.outcome.state === "done") await tidyUp(parts, turn, tools.specs)
    return end
  }
}

/** The answer has reached whoever waited for it; what follows makes the next turn smaller. */
async function tidyUp(
  parts: TurnParts,
  turn: RunningTurn,
  tools: readonly ToolSpec[],
): Promise<void> {
  await foldWhenFull(parts, turn, tools)
  await tidyNotebook(parts, turn)
}

function squeeze({ router }: TurnParts, { conversation, live, log, model }: RunningTurn): void {
  const freed_chars = conversation.squeeze((text) => router.tokens.text(model, text))
  if (freed_chars === 0) return
  log.info("older tool traffic of the turn is shown in short", { freed_chars })
  live.emit({ type: "turn_squeezed", freed_chars })
}

/** The turn is over with this answer, or has calls to settle. */
function endOfStep(
  turn: RunningTurn,
  answer: StepAnswer,
  calls: readonly ToolUseBlock[],
): LoopEnd | undefined {
  if (answer.failure) {
    return answer.failure.class === "cancelled" ? cancelled() : failedBy(answer.failure)
  }
  if (calls.length > 0) return undefined
  if (turn.signal.aborted) return cancelled()
  if (answer.stop === "refusal") {
    return failedBy({ class: "refused", message: "the model declined to answer" })
  }
  return { outcome: { state: "done" }, retryable: false }
}

function endAfterCalls(
  parts: TurnParts,
  turn: RunningTurn,
  settled: { fatal: string | undefined; endsTurn: boolean; cutInARow: number },
): LoopEnd | undefined {
  if (settled.fatal !== undefined) return failed("tool", settled.fatal)
  if (turn.signal.aborted) return cancelled()
  if (settled.endsTurn) return { outcome: { state: "done" }, retryable: false }
  if (settled.cutInARow > CUT_CALLS_MAX) {
    return failed(
      "length",
      "the output limit cut the model's tool call again and again; raise llm.max_tokens or ask for smaller parts",
    )
  }
  if (!isUncapped(turn) && turn.step >= parts.settings.maxIterations) {
    return failed(
      "iterations",
      `the turn reached its limit of ${parts.settings.maxIterations} requests (llm.max_turn_iterations); what was done so far is stored, say "go on" to continue`,
    )
  }
  return undefined
}

/** The answer, its cost and, when it is the last, the end of the turn: on disk in one transaction. */
async function storeAnswer(
  parts: TurnParts,
  turn: RunningTurn,
  step: { answer: StepAnswer; end: LoopEnd | undefined; close: (end: LoopEnd) => void },
): Promise<void> {
  const { answer, end, close } = step
  const blocks = keptBlocks(answer)
  const { chatId, id: turnId, identity } = turn.spec
  const closes = identity.anchored ? closedIds(lastText(blocks)) : []
  const stored = await parts.store.commit((): Message[] => {
    const messages =
      blocks.length === 0
        ? []
        : parts.messages.append([
            {
              id: turn.newMessageId(),
              chat_id: chatId,
              turn_id: turnId,
              role: "assistant",
              blocks,
              master: identity.master,
              model: answer.model,
              ...(closes.length > 0 && { closes }),
            },
          ])
    for (const { model, usage } of answer.paid) recordSpend(parts, turn, { model, usage })
    const message = messages[0]
    if (answer.usage && message) {
      const tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
      parts.chats.setContextAnchor(chatId, tokens, message.id)
      turn.counted = { tokens, messageId: message.id }
    }
    if (end) close(end)
    return messages
  })
  if (answer.rateLimits.length > 0) parts.spend.noteRateLimits(answer.upstream, answer.rateLimits)
  turn.conversation.add(stored)
}

function recordSpend(
  parts: TurnParts,
  turn: RunningTurn,
  trip: { model: string; usage: Usage },
): void {
  const { chatId, id: turnId, source } = turn.spec
  const { model, usage } = trip
  const priceOut = parts.router.models.resolve(model).entry.prices?.out
  const thought = priceOut === undefined ? null : reasoningCost(usage, priceOut)
  parts.spend.record({ chatId, turnId, source, model, usage, reasoningCost: thought })
}

/** A failed or cancelled trip keeps what was said and drops calls that nobody was told of. */
const keptBlocks = (answer: StepAnswer) =>
  answer.failure ? answer.blocks.filter((block) => block.type !== "tool_use") : answer.blocks

const callsOf = (answer: StepAnswer): ToolUseBlock[] =>
  answer.failure ? [] : answer.blocks.filter((block) => block.type === "tool_use")

const lastText = (blocks: StepAnswer["blocks"]): string =>
  blocks.findLast((block) => block.type === "text")?.text ?? ""

function finish(parts: TurnParts, close: (end: LoopEnd) => void, end: LoopEnd): LoopEnd {
  parts.store.write(() => close(end))
  return end
}

const cancelled = (): LoopEnd => ({ outcome: { state: "cancelled" }, retryable: false })

const failed = (errorCode: string, error: string): LoopEnd => ({
  outcome: { state: "failed", errorCode, error },
  retryable: false,
})

/** What the provider refused as it stands would be refused again: later prompts go without it. */
function failedBy(failure: ProviderFailure): LoopEnd {
  const excluded = ["overflow", "refused", "fatal"].includes(failure.class)
  const outcome: TurnOutcome = {
    state: "failed",
    errorCode: failure.class,
    error: failure.message,
    excluded,
  }
  return { outcome, retryable: failure.class === "transient" }
}

/** The end of a turn whose own machinery failed. */
export function endOfFault(error: unknown): LoopEnd {
  const known = error instanceof KernelError
  return failed(
    known ? error.code : "internal",
    known ? error.message : "internal error, see the log",
  )
}
