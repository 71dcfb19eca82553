/** The section Hands: what the tools of the agent cost. */
import type { Section } from "./bench.ts"
import { applyPatchBench } from "./hands/apply-patch.ts"
import { cancels } from "./hands/cancels.ts"
import { iteration } from "./hands/iteration.ts"
import { largeFile } from "./hands/large-file.ts"
import { redaction } from "./hands/redaction.ts"
import { whyNoBinary } from "./kernel-process.ts"
import { needing } from "./needing.ts"
import { whyNoUpstream } from "./upstream.ts"

export const hands: Section = {
  title: "Hands",
  benches: [
    needing([whyNoBinary, whyNoUpstream], iteration),
    applyPatchBench,
    largeFile,
    redaction,
    cancels,
  ],
}
