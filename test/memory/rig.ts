/** Memories on a real file, with a clock that the test moves. */

import { silentLog } from "../../src/lib/log.ts"
import type { Embedder } from "../../src/llm/embedder.ts"
import {
  type Audience,
  createMemories,
  type MemorySettings,
  OWNER,
} from "../../src/memory/memories.ts"
import type { NewMemory } from "../../src/schema/memory.ts"
import { openTempStore } from "../support/temp-store.ts"

export const DAY_MS = 24 * 3600 * 1000

export const GUEST: Audience = { master: false, trusted: false }
export const MASTER_OUTSIDE: Audience = { master: true, trusted: false }

export interface RigOptions {
  settings?: Partial<MemorySettings>
  embedder?: Embedder
  inlineMax?: number
}

export function memoryRig(options: RigOptions = {}) {
  const temp = openTempStore()
  const { store, clock } = temp
  const build = (embedder = options.embedder) =>
    createMemories({
      ...{ store, clock, embedder, log: silentLog },
      ...(options.inlineMax !== undefined && { inlineMax: options.inlineMax }),
      settings: {
        ...{ topK: 8, publicTopK: 3, promptBudget: 8000, recallFloor: 0.15 },
        halfLifeMs: 30 * DAY_MS,
        ...options.settings,
      },
    })
  const memories = build()
  return {
    ...{ store, clock, memories, build },
    file: store.path,
    save: async (content: string, more: Partial<NewMemory> = {}, audience = OWNER) =>
      memories.save({ content, ...more }, audience),
    /** As an import does. */
    load: async (...contents: string[]) => {
      const ids: number[] = []
      for (const content of contents)
        ids.push((await memories.save({ content, dedup: false }, OWNER)).id)
      return ids
    },
    search: async (text: string, audience = OWNER, limit = 8) =>
      memories.search({ text, limit, reinforce: false }, audience),
    found: async (text: string, audience = OWNER) =>
      (await memories.search({ text, limit: 8, reinforce: false }, audience)).map(
        ({ content }) => content,
      ),
    section: async (text: string, audience = OWNER) =>
      (await memories.section(text, audience)).text,
    dispose: async () => {
      await memories.close()
      temp.close()
    },
  }
}

export type MemoryRig = ReturnType<typeof memoryRig>
