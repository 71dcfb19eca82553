/** What the estimator learned about each model's tokens: kept over a restart, or it would start wrong again. */
import { isObject, tryParseJson } from "../lib/json.ts"
import type { TokenEstimator } from "../llm/tokens.ts"
import { readMeta, writeMeta } from "../store/meta.ts"
import type { Store } from "../store/open.ts"

const KEY = "token_ratios"

/** Bytes per token by model; empty when nothing readable is stored. */
export function loadRatios(store: Store): Record<string, number> {
  const stored = tryParseJson(readMeta(store, KEY) ?? "")?.value
  if (!isObject(stored)) return {}
  return Object.fromEntries(
    Object.entries(stored).filter(
      (entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0,
    ),
  )
}

export const saveRatios = (store: Store, tokens: Pick<TokenEstimator, "ratios">): void =>
  writeMeta(store, KEY, JSON.stringify(tokens.ratios()))
