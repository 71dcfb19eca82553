/** How well a list of found records holds what was looked for. */

export interface Quality {
  /** Share of the evidence among the first 5, 10 and 20; its mean over questions. */
  r5: number
  r10: number
  r20: number
  /** One over the place of the first evidence. */
  mrr: number
  questions: number
}

export const LOOKED_AT = 20

/** One question: the ids in the order found, and the ids looked for. */
export function judge(found: readonly number[], wanted: ReadonlySet<number>): Quality {
  const share = (places: number) =>
    found.slice(0, places).filter((id) => wanted.has(id)).length / wanted.size
  const first = found.findIndex((id) => wanted.has(id))
  return {
    ...{ r5: share(5), r10: share(10), r20: share(20) },
    mrr: first < 0 ? 0 : 1 / (first + 1),
    questions: 1,
  }
}

export function mean(all: readonly Quality[]): Quality {
  const over = (value: (one: Quality) => number) =>
    all.reduce((sum, one) => sum + value(one), 0) / all.length
  return {
    r5: over(({ r5 }) => r5),
    r10: over(({ r10 }) => r10),
    r20: over(({ r20 }) => r20),
    mrr: over(({ mrr }) => mrr),
    questions: all.length,
  }
}
