/** One short question to the general model of a configuration, over the same way that turns take. */
import type { CallModel } from "../cli/init/call-model.ts"
import { systemClock } from "../lib/clock.ts"
import { silentLog } from "../lib/log.ts"
import { complete } from "../llm/complete.ts"
import { createModelRouter } from "./models.ts"

const ANSWER_MAX_TOKENS = 512

/** Asked once: whoever watches wants to know what is wrong now, not after four attempts. */
const ONCE = { attempts: 1, budget: 60_000, first_delay: 0, max_delay: 0 }

export const callModel: CallModel = async (config, signal) => {
  const startedMs = systemClock.now()
  const router = createModelRouter({
    config: { ...config, budget: { allow_unpriced: true }, llm: { ...config.llm, retry: ONCE } },
    clock: systemClock,
    log: silentLog,
    spend: { spentSince: () => 0 },
    zone: { name: () => "UTC" },
    mock: undefined,
  })
  const answer = await complete(router, {
    model: config.llm.model.general,
    system: "Answer in one short sentence.",
    messages: [{ role: "user", blocks: [{ type: "text", text: "Say hello to your new home." }] }],
    signal,
    spender: {},
    maxTokens: ANSWER_MAX_TOKENS,
    fallback: [],
  })
  if ("failure" in answer) return { failure: answer.failure.message }
  return { text: answer.text, tookMs: systemClock.now() - startedMs }
}
