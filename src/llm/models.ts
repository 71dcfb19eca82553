/** The models that may be used, the roles they play, and the upstream that serves each. */
import { KernelError } from "../lib/error.ts"
import { nearest } from "../lib/text.ts"
import type { Effort } from "../schema/effort.ts"
import type { Upstream } from "./named-upstream.ts"
import type { Prices } from "./price.ts"

export interface ModelEntry {
  /** The name that the upstream knows the model by. */
  name: string
  description?: string
  /** Of `upstreams`; absent: the main one. */
  upstream?: string
  /** Accepts pictures in messages. */
  multimodal: boolean
  /** Draws in its own answer. */
  imageOutput: boolean
  /** Text for the system prompt of this model alone. */
  jailbreak?: string
  effort?: Effort
  prices?: Prices
  /** Tokens of prompt and answer together. */
  contextWindow?: number
  /** Tokens of the longest answer. */
  maxOutput?: number
}

export interface ModelRoles {
  general: string
  fastest?: string
  smartest?: string
  summary?: string
  /** Substitutes, in order. */
  fallback: readonly string[]
}

export interface ModelsOptions {
  entries: readonly ModelEntry[]
  roles: ModelRoles
  main: Upstream
  upstreams: Readonly<Record<string, Upstream>>
}

/** A model with the way to it. */
export interface Target {
  entry: ModelEntry
  upstream: Upstream
}

export interface Models {
  readonly entries: readonly ModelEntry[]
  /** Every role filled: one that is not given is played by `general`. */
  readonly roles: Required<ModelRoles>
  /** Throws `invalid` for a name that is not listed; an empty list knows every name on the main upstream. */
  resolve(name: string): Target
}

export function createModels({ entries, roles, main, upstreams }: ModelsOptions): Models {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))

  const upstreamOf = (entry: ModelEntry): Upstream => {
    if (entry.upstream === undefined) return main
    const upstream = upstreams[entry.upstream]
    if (!upstream) throw new KernelError("config", `${entry.name}: no upstream ${entry.upstream}`)
    return upstream
  }
  const resolve = (name: string): Target => {
    const entry = byName.get(name)
    if (entry) return { entry, upstream: upstreamOf(entry) }
    if (entries.length > 0) throw unknownModel(name, [...byName.keys()])
    return { entry: { name, multimodal: false, imageOutput: false }, upstream: main }
  }
  const { general, fastest = general, smartest = general, summary = general, fallback } = roles
  return { entries, roles: { general, fastest, smartest, summary, fallback }, resolve }
}

function unknownModel(name: string, known: string[]): KernelError {
  const guess = nearest(name, known)
  const hint = guess ? `did you mean ${guess}?` : `known are ${known.join(", ")}`
  return new KernelError("invalid", `no model ${name}; ${hint}`, { path: "model" })
}
