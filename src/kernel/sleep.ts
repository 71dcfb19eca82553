/** Memory and the sleep that tidies it, built together: what is purged leaves the journal of nights, too. */
import type { Config } from "../config/schema.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import type { Router } from "../llm/router.ts"
import type { Memories } from "../memory/memories.ts"
import { CORE_SHARE } from "../memory/section.ts"
import { createGate, type SleepGate } from "../sleep/gate.ts"
import { createMemoryStage } from "../sleep/memory-stage.ts"
import { createSleep, type Sleep } from "../sleep/sleep.ts"
import { createSleepStore } from "../sleep/store.ts"
import type { Spend } from "../spend/spend.ts"
import { createMemory, type MemoryParts } from "./memory.ts"

export interface SleepParts extends Omit<MemoryParts, "erased"> {
  router: Router
  spend: Pick<Spend, "record">
  zone: Pick<TimeZone, "name">
  persona: string | undefined
}

export interface Nights {
  memories: Memories
  sleep: Sleep
  gate: SleepGate
}

export function createNights(parts: SleepParts): Nights {
  const { config, store, clock, log, router, spend, zone, persona = "" } = parts
  const journal = createSleepStore(store)
  const memories = createMemory({ config, store, clock, log, erased: journal.erase })
  const gate = createGate(clock.now)
  const { roles } = router.models
  const stage = createMemoryStage({
    ...{ store, clock, memories, journal, router, persona },
    model: config.sleep.memory.model ?? roles.smartest,
    settings: stageSettings(config),
    recordSpend: (trip) => store.write(() => spend.record(trip)),
  })
  const { enabled, at, idle_for, dry_run, memory } = config.sleep
  const sleep = createSleep({
    ...{ store, clock, log, zone, gate, journal, memories },
    stages: memory.enabled ? [stage] : [],
    settings: {
      ...{ enabled, at, idleForMs: idle_for, dryRun: dry_run },
      ...{ keepRecentMs: memory.keep_recent, halfLifeMs: config.memory.half_life },
    },
  })
  return { memories, sleep, gate }
}

function stageSettings({ sleep, memory }: Config) {
  const { min_memories, max_ops, max_forget, keep_recent, archive_ttl } = sleep.memory
  const { cluster_jaccard, cluster_cosine, max_cluster } = sleep.memory
  return {
    ...{ minMemories: min_memories, maxOps: max_ops, maxForget: max_forget },
    ...{ keepRecentMs: keep_recent, archiveTtlMs: archive_ttl, halfLifeMs: memory.half_life },
    ...{ jaccard: cluster_jaccard, cosine: cluster_cosine, maxCluster: max_cluster },
    coreChars: Math.floor(memory.prompt_budget * CORE_SHARE),
  }
}
