/** The section Terminal: how soon the built client paints, and how it holds up in a long chat that answers. */
import type { Section } from "./bench.ts"
import { whyNoBinary } from "./kernel-process.ts"
import { needing } from "./needing.ts"
import { whyNoFigures } from "./process-figures.ts"
import { firstPaint } from "./terminal/first-paint.ts"
import { longChat } from "./terminal/long-chat.ts"
import { whyNoUpstream } from "./upstream.ts"

export const terminal: Section = {
  title: "Terminal",
  benches: [
    needing([whyNoBinary], firstPaint),
    needing([whyNoBinary, whyNoUpstream, whyNoFigures], longChat),
  ],
}
