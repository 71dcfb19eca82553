/**
 * How many tokens a request takes before any provider has counted it: what its JSON weighs by its scripts, corrected
 * by a ratio that follows each model's true usage. Pictures cost a fixed price.
 */
import type { Usage } from "../schema/usage.ts"
import type { ModelMessage, ModelRequest } from "./provider.ts"
import { scriptTokens } from "./script-weight.ts"

/** Tokens of one picture, whatever its size. */
export const IMAGE_TOKENS = 1500

/** Bytes of plain text per token, as it is kept for each model: this one stands for an estimate that is right. */
const START_RATIO = 4
const MIN_RATIO = 2
const MAX_RATIO = 6
/** Of a new count in the moving average; the first ones weigh more, since nothing is known before them. */
const NEW_WEIGHT = 0.2
/** A ratio from an earlier run stands for so many counts. */
const KEPT_COUNTS = 3
/** Below this the fixed overhead of a request drowns what it says about the ratio. */
const MIN_CALIBRATION_TOKENS = 200

interface Size {
  /** Tokens by script. */
  tokens: number
  images: number
}

/** What a request weighs without its pictures, and how many of those it carries. */
export type Sized = Pick<ModelRequest, "system" | "messages" | "tools" | "images">

export interface TokenEstimator {
  /** Tokens of a whole request, which must not change afterwards. */
  request(model: string, request: Sized): number
  /** Tokens of some messages: the tail after the provider's last own count. */
  messages(model: string, messages: ModelMessage[], images: ModelRequest["images"]): number
  /** Tokens of a text. */
  text(model: string, text: string): number
  /** Learns from what the provider counted for this request; an estimated usage teaches nothing. */
  calibrate(model: string, request: Sized, usage: Usage): void
  /** Bytes per token of each model that was calibrated: to store and to hand back as `ratios`. */
  ratios(): Record<string, number>
}

export function createTokenEstimator(ratios: Record<string, number> = {}): TokenEstimator {
  const known = new Map(Object.entries(ratios))
  const counts = new Map(Object.keys(ratios).map((model) => [model, KEPT_COUNTS]))
  // A request is asked about several times on its way and may hold megabytes.
  const sizes = new WeakMap<Sized, Map<string, Size>>()
  const scales = { weighSystem: createSystemScales(), weighTools: createToolScales() }
  const sizeOf = (model: string, request: Sized): Size => {
    const bySize = sizes.get(request) ?? new Map<string, Size>()
    sizes.set(request, bySize)
    const size = bySize.get(model) ?? requestSize(model, request, scales)
    bySize.set(model, size)
    return size
  }
  const ratioOf = (model: string): number => known.get(model) ?? START_RATIO
  const corrected = (model: string, { tokens, images }: Size): number =>
    Math.ceil((tokens * START_RATIO) / ratioOf(model)) + images * IMAGE_TOKENS

  return {
    request: (model, request) => corrected(model, sizeOf(model, request)),
    messages: (model, messages, images) => corrected(model, messagesSize(model, messages, images)),
    text: (model, text) => corrected(model, { tokens: scriptTokens(model, text), images: 0 }),
    ratios: () => Object.fromEntries(known),
    calibrate: (model, request, usage) => {
      if (usage.estimated) return
      const { tokens, images } = sizeOf(model, request)
      const counted = usage.prompt_tokens - images * IMAGE_TOKENS
      if (counted < MIN_CALIBRATION_TOKENS) return
      const count = counts.get(model) ?? 0
      const weight = Math.max(NEW_WEIGHT, 1 / (count + 2))
      const observed = clamp((START_RATIO * tokens) / counted)
      known.set(model, clamp(ratioOf(model) * (1 - weight) + observed * weight))
      counts.set(model, count + 1)
    },
  }
}

const clamp = (ratio: number): number => Math.min(MAX_RATIO, Math.max(MIN_RATIO, ratio))

const jsonTokens = (model: string, value: unknown): number =>
  scriptTokens(model, JSON.stringify(value))

interface Scales {
  weighSystem: SystemScales
  weighTools: ToolScales
}

function requestSize(model: string, request: Sized, { weighSystem, weighTools }: Scales): Size {
  const { tokens, images } = messagesSize(model, request.messages, request.images)
  const head = weighSystem(model, request.system) + weighTools(model, request.tools)
  return { tokens: tokens + head, images }
}

type SystemScales = (model: string, system: Sized["system"]) => number

/** So many texts are remembered: chats that run at a time, as a rule under a few texts. */
const SYSTEM_TEXTS = 16

/** The system part as JSON. Most requests say one that was said before, and each is asked about several times. */
function createSystemScales(): SystemScales {
  const known = new Map<string, { model: string; tokens: number }>()
  const weigh = (model: string, part: Sized["system"][number]): number => {
    const before = known.get(part.text)
    if (before?.model === model) return before.tokens
    const tokens = jsonTokens(model, part)
    known.set(part.text, { model, tokens })
    if (known.size > SYSTEM_TEXTS) known.delete(known.keys().next().value!)
    return tokens
  }
  return (model, system) => system.reduce((sum, part) => sum + weigh(model, part), 0)
}

type ToolScales = (model: string, tools: Sized["tools"]) => number

/** Tools as JSON. Each is weighed once: requests share them, and they never change. */
function createToolScales(): ToolScales {
  const known = new WeakMap<object, Map<string, number>>()
  const weigh = (model: string, tool: object): number => {
    const weights = known.get(tool) ?? new Map<string, number>()
    known.set(tool, weights)
    const tokens = weights.get(model) ?? jsonTokens(model, tool)
    weights.set(model, tokens)
    return tokens
  }
  return (model, tools) => tools.reduce((sum, tool) => sum + weigh(model, tool), 0)
}

/** A picture without bytes goes out as a text mark, so only those at hand are counted as pictures. */
function messagesSize(
  model: string,
  messages: ModelMessage[],
  images: ModelRequest["images"],
): Size {
  let count = 0
  for (const message of messages)
    for (const block of message.blocks) if (block.type === "image" && images.has(block.id)) count++
  return { tokens: jsonTokens(model, messages), images: count }
}
