/** The section Memory: how well the search finds, and how fast. */
import type { Section } from "./bench.ts"
import { whyNoBinary } from "./kernel-process.ts"
import { whyNoData } from "./memory/data.ts"
import { latency } from "./memory/latency.ts"
import { locomoHybrid, locomoLexical } from "./memory/locomo.ts"
import { xquad } from "./memory/xquad.ts"
import { needing } from "./needing.ts"

export const memory: Section = {
  title: "Memory",
  benches: [
    needing([whyNoBinary, whyNoData], locomoLexical),
    needing([whyNoBinary, whyNoData], xquad),
    needing([whyNoBinary], latency),
    needing([whyNoBinary, whyNoData], locomoHybrid),
  ],
}
