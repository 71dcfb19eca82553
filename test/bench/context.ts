/** The section Context: what surrounds the words that a model sees. */
import type { Section } from "./bench.ts"
import { historySearch } from "./context/history-search.ts"

export const context: Section = {
  title: "Context",
  benches: [historySearch],
}
