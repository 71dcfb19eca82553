/** Compaction, built from the rooms it works with. */
import type { Chats } from "../chats/chats.ts"
import type { Config } from "../config/schema.ts"
import {
  type Compaction,
  type CompactionParts,
  createCompaction,
} from "../context/compaction/compaction.ts"
import { createHandFolds, type HandFolds } from "../context/compaction/hand-folds.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import type { Spend } from "../spend/spend.ts"
import type { Store } from "../store/open.ts"
import type { Registry } from "../tools/registry.ts"

export interface FoldingOptions
  extends Pick<CompactionParts, "router" | "summaries" | "messages" | "log"> {
  config: Config
  store: Pick<Store, "write">
  registry: Pick<Registry, "get">
  spend: Pick<Spend, "record">
  chats: Pick<Chats, "get">
  zone: Pick<TimeZone, "stamp">
  personName(id: string): string | undefined
}

export interface Folding {
  compaction: Compaction
  folds: HandFolds
}

export function createFolding(options: FoldingOptions): Folding {
  const { config, store, router, registry, spend, chats, zone, personName } = options
  const { summaries, messages, log } = options
  const { context, llm } = config
  const compaction = createCompaction({
    ...{ router, summaries, messages, log, context },
    view: { personName, stamp: zone.stamp },
    summaryModel: llm.summary_model,
    recordSpend: (trip) => store.write(() => spend.record(trip)),
  })
  const folds = createHandFolds({
    ...{ compaction, context, models: router.models },
    chat: chats.get,
    traits: (name) => registry.get(name)?.traits ?? {},
  })
  return { compaction, folds }
}
