/**
 * One question to another model from within a tool. That model sees the question and nothing else: no
 * history, no tools, no files. What it cost is booked to the chat under the tool's own source.
 */
import { complete } from "../llm/complete.ts"
import type { Router } from "../llm/router.ts"
import type { PaidTrip } from "../schema/usage.ts"
import { type ToolContext, ToolFailure } from "./tool.ts"

export interface OffloadParts {
  router: Router
  maxTokens: number
  /** Stores what a trip consumed. */
  record(trip: PaidTrip): void
}

export interface OffloadQuestion {
  model: string
  system: string
  prompt: string
  /** What the trip counts as in statistics. */
  source: string
  /** Default: the setting for answers of the master's turns. */
  maxTokens?: number
}

/** Gives the answer, with a note when it was cut. Throws ToolFailure with the provider's words. */
export type Offload = (
  context: Pick<ToolContext, "chatId" | "turnId" | "signal">,
  question: OffloadQuestion,
) => Promise<string>

const CUT = "[kernel] The answer was cut by the output limit: ask for the rest, or for less."

export const createOffload =
  ({ router, maxTokens, record }: OffloadParts): Offload =>
  async ({ chatId, turnId, signal }, question) => {
    const { model, system, prompt, source } = question
    const { effort } = router.models.resolve(model).entry
    const answer = await complete(router, {
      ...{ model, system, signal, maxTokens: question.maxTokens ?? maxTokens },
      messages: [{ role: "user", blocks: [{ type: "text", text: prompt }] }],
      spender: { chat: chatId },
      ...(effort !== undefined && { effort }),
    })
    const { usage } = answer
    if (usage.prompt_tokens + usage.completion_tokens > 0) {
      const paidBy = "failure" in answer ? model : answer.model
      record({ chatId, turnId, source, model: paidBy, usage, reasoningCost: null })
    }
    if ("failure" in answer) throw new ToolFailure(`${model} failed: ${answer.failure.message}`)
    return answer.stop === "length" ? `${answer.text}\n${CUT}` : answer.text
  }
