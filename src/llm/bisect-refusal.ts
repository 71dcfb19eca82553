/** Finds the part of a history that a content filter refuses, so that the rest can go on without it. */

export interface BisectLimits {
  /** Each probe is a request to the provider. */
  maxProbes: number
}

export interface BisectResult {
  /** Indexes of the parts to leave out; the rest was seen to pass. */
  culprits: number[]
  probes: number
}

/**
 * `accepts` asks the provider about the kept parts, in order, with the newest message behind them; a part is
 * what can be left out as a whole: a message, or a call with its result. Undefined when the newest message
 * alone is refused, or when the limit came first: then nothing in the history can be blamed.
 *
 * A filter that refuses some parts refuses any history that begins with the same ones, so the first culprit
 * is where the growing prefix stops passing: log2(n) probes for each.
 */
export async function bisectRefusal<T>(
  parts: readonly T[],
  accepts: (kept: T[]) => Promise<boolean>,
  limits: BisectLimits,
): Promise<BisectResult | undefined> {
  let kept = parts.map((_, index) => index)
  const culprits: number[] = []
  let probes = 0
  const probe = (indexes: number[]): Promise<boolean> => {
    probes++
    return accepts(indexes.map((index) => parts[index]!))
  }

  if (!(await probe([]))) return undefined
  while (probes < limits.maxProbes) {
    if (culprits.length > 0 && (await probe(kept))) return { culprits, probes }
    let passing = 0
    let refused = kept.length
    while (refused - passing > 1 && probes < limits.maxProbes) {
      const middle = Math.floor((passing + refused) / 2)
      if (await probe(kept.slice(0, middle))) passing = middle
      else refused = middle
    }
    if (refused - passing > 1 || refused === 0) return undefined
    culprits.push(kept[refused - 1]!)
    kept = kept.filter((_, position) => position !== refused - 1)
  }
  return undefined
}
