/** What the turn room reads of the configuration. */
import type { Config } from "../config/schema.ts"
import { commit, version } from "../lib/build-info.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import type { TurnSettings } from "../turn/parts.ts"

export function turnSettings(
  config: Config,
  more: { persona: string | undefined; zone: TimeZone },
): TurnSettings {
  const { llm, context } = config
  return {
    maxIterations: llm.max_turn_iterations,
    maxTokens: llm.max_tokens,
    maxTokensGuest: llm.max_tokens_guest,
    reasoning: llm.reasoning,
    temperature: llm.temperature,
    promptCache: llm.prompt_cache,
    promptCacheSurface: llm.prompt_cache_telegram,
    magicKeywords: llm.magic_keywords,
    summaryModel: llm.summary_model,
    build: `${version} (${commit})`,
    onDemand: config.tools.on_demand,
    askTtlMs: config.tools.ask_ttl,
    context,
    ...more,
  }
}
