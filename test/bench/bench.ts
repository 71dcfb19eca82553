/** A benchmark: a name to choose it by, and a run that gives rows. */
import type { Row } from "./report.ts"

export interface Bench {
  name: string
  run(context: Context): Promise<Row[]>
}

export interface Section {
  title: string
  benches: readonly Bench[]
}

export interface Context {
  /** Fewer samples, and nothing that takes minutes. */
  quick: boolean
  /** A line about what runs now; it is not part of the report. */
  say(text: string): void
}
