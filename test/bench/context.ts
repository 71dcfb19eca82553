/** The section Context: what surrounds the words that a model sees. */
import type { Section } from "./bench.ts"
import { assembly } from "./context/assembly.ts"
import { cachedPrefix } from "./context/cached-prefix.ts"
import { firstRequest } from "./context/first-request.ts"
import { historySearch } from "./context/history-search.ts"
import { tokenEstimate } from "./context/token-estimate.ts"
import { workingChat } from "./context/working-chat.ts"

export const context: Section = {
  title: "Context",
  benches: [firstRequest, assembly, tokenEstimate, cachedPrefix, workingChat, historySearch],
}
