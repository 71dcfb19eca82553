/** `POST /v1/complete`: one question outside every chat, with its failure as an error of the API. */
import { KernelError } from "../lib/error.ts"
import { complete } from "../llm/complete.ts"
import type { Router } from "../llm/router.ts"
import type { Complete, Completion } from "../schema/complete.ts"
import type { Spend } from "../spend/spend.ts"

const NO_SYSTEM = "Answer the request."

export interface CompleteParts {
  router: Router
  spend: Pick<Spend, "record">
  /** Writes in one transaction. */
  write(work: () => void): void
  promptCache: "5m" | "1h" | undefined
}

export async function completeOnce(
  parts: CompleteParts,
  body: Complete,
  signal: AbortSignal,
): Promise<Completion> {
  const { router, promptCache } = parts
  const model = body.model ?? router.models.roles.general
  const answer = await complete(router, {
    model,
    system: body.system?.trim() || NO_SYSTEM,
    messages: [{ role: "user", blocks: [{ type: "text", text: body.prompt }] }],
    signal,
    spender: {},
    ...(body.effort && { effort: body.effort }),
    ...(body.max_tokens !== undefined && { maxTokens: body.max_tokens }),
    ...(body.schema && {
      answerSchema: { name: "answer", schema: body.schema, strict: body.strict ?? false },
    }),
    ...(body.cache && promptCache && { cacheTtl: promptCache }),
  })
  const { usage } = answer
  const paidBy = "failure" in answer ? model : answer.model
  if (usage.prompt_tokens + usage.completion_tokens > 0) {
    const trip = { source: "complete", model: paidBy, usage, reasoningCost: null }
    parts.write(() => parts.spend.record(trip))
  }
  if ("failure" in answer) throw failureOf(answer.failure)
  return { text: answer.text, model: answer.model, usage }
}

/** What waiting may heal is 503; what would be refused again is 400. */
const failureOf = (failure: { class: string; message: string }): KernelError =>
  new KernelError(
    failure.class === "transient" || failure.class === "cancelled" ? "unavailable" : "invalid",
    failure.message,
  )
