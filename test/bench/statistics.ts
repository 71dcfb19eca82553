/** Figures out of samples. */

/** The value that the share `share` (0…1) of the samples does not exceed. Throws without samples. */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error("no samples")
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? sorted[0]!
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5)

/** Milliseconds since 1970 with fractions, comparable between the processes of one machine. */
export const epochMs = (): number => performance.timeOrigin + performance.now()
