/** The section Skeleton: start, first words, idling, load and size of the built kernel. */
import type { Section } from "./bench.ts"
import { whyNoBinary } from "./kernel-process.ts"
import { needing } from "./needing.ts"
import { binarySize } from "./skeleton/binary-size.ts"
import { coldStart } from "./skeleton/cold-start.ts"
import { commandLine } from "./skeleton/command-line.ts"
import { crowd } from "./skeleton/crowd.ts"
import { fileSize } from "./skeleton/file-size.ts"
import { firstDelta } from "./skeleton/first-delta.ts"
import { firstText } from "./skeleton/first-text.ts"
import { idle } from "./skeleton/idle.ts"
import { listeners } from "./skeleton/listeners.ts"
import { relay } from "./skeleton/relay.ts"
import { stuckListener } from "./skeleton/stuck-listener.ts"
import { whyNoUpstream } from "./upstream.ts"

const kernelOnly = [whyNoBinary]
const kernelAndModel = [whyNoBinary, whyNoUpstream]

export const skeleton: Section = {
  title: "Skeleton",
  benches: [
    needing(kernelOnly, coldStart),
    needing(kernelAndModel, firstText),
    needing(kernelOnly, commandLine),
    needing(kernelOnly, idle),
    needing(kernelAndModel, firstDelta),
    needing(kernelAndModel, crowd),
    needing(kernelAndModel, relay),
    needing(kernelOnly, listeners),
    needing(kernelOnly, stuckListener),
    needing(kernelAndModel, fileSize),
    needing(kernelOnly, binarySize),
  ],
}
