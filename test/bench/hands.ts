/** The section Hands: what the tools of the agent cost. */
import type { Section } from "./bench.ts"
import { applyPatchBench } from "./hands/apply-patch.ts"

export const hands: Section = { title: "Hands", benches: [applyPatchBench] }
