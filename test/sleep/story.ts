/** A few records and a plan that uses every phase: the same night wherever it is played. */
import { OWNER } from "../../src/memory/memories.ts"
import { type Asked, DAY_MS, type Op, type SleepRig } from "./rig.ts"

export const STORY_SETTINGS = { memory: { half_life: "10days" } }

export async function saveStory(rig: SleepRig): Promise<void> {
  await rig.save("Anna plays the violin in the city orchestra")
  await rig.save("Anna plays violin and cello in the city orchestra", { private: true })
  await rig.save("Anna plays the violin in the old city orchestra")
  await rig.save("The bus was late", { importance: 1 })
  await rig.save("Rain on Sunday afternoon", { importance: 2 })
  await rig.save("Boris is the brother of the master")
  await rig.memories.search({ text: "Boris brother", limit: 1, reinforce: true }, OWNER)
  rig.clock.advance(25 * DAY_MS)
}

export function planStory({ phase, shown }: Asked): Op[] {
  const why = "it is so"
  const known = (id: number): boolean => shown.some((one) => one.id === id)
  if (phase === "forget") return known(4) ? [{ op: "forget", id: 4, why }] : []
  if (phase === "kinds") return known(6) ? [{ op: "kind", id: 6, kind: "core", why }] : []
  if (!known(2)) {
    return known(3)
      ? [
          {
            op: "merge",
            ids: [1, 3],
            content: "Anna plays the violin in the old city orchestra",
            why,
          },
        ]
      : []
  }
  return [
    {
      op: "rewrite",
      id: 2,
      content: "Anna plays violin, viola and cello in the city orchestra",
      why,
    },
  ]
}

/** What memory and archive hold, without times. */
export function stateOf({ memories }: SleepRig) {
  const rows = memories
    .corpus(0, 1000)
    .map(({ row }) => [...[row.id, row.kind, row.importance, row.private, row.hits, row.content]])
  const archived = memories.archived({ limit: 99, offset: 0 }).map(({ id }) => id)
  return { rows, archived: archived.sort((a, b) => a - b) }
}
