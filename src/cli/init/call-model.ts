/** The test call of `eva-kernel init`, handed in from above: this room does not build upstreams. */
import type { Config } from "../../config/schema.ts"

export type Called = { text: string; tookMs: number } | { failure: string }

/** One question to the general model of this configuration. Never throws for what the upstream does. */
export type CallModel = (config: Config, signal: AbortSignal) => Promise<Called>
