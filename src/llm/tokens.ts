/**
 * How many tokens a request takes before any provider has counted it: UTF-8 bytes of its JSON over a
 * bytes-per-token ratio that each model's true usage corrects. Pictures cost a fixed price.
 */
import type { Usage } from "../schema/usage.ts"
import type { ModelMessage, ModelRequest } from "./provider.ts"

/** Tokens of one picture, whatever its size. */
export const IMAGE_TOKENS = 1500

const START_RATIO = 4
const MIN_RATIO = 2
const MAX_RATIO = 6
const NEW_WEIGHT = 0.2
/** Below this the fixed overhead of a request drowns what it says about the ratio. */
const MIN_CALIBRATION_TOKENS = 200

interface Size {
  bytes: number
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
  // A request is asked about several times on its way and may hold megabytes.
  const sizes = new WeakMap<Sized, Size>()
  const weighTools = createToolScales()
  const sizeOf = (request: Sized): Size => {
    const size = sizes.get(request) ?? requestSize(request, weighTools)
    sizes.set(request, size)
    return size
  }
  const ratioOf = (model: string): number => known.get(model) ?? START_RATIO
  const tokens = (model: string, size: Size): number =>
    Math.ceil(size.bytes / ratioOf(model)) + size.images * IMAGE_TOKENS

  return {
    request: (model, request) => tokens(model, sizeOf(request)),
    messages: (model, messages, images) => tokens(model, messagesSize(messages, images)),
    text: (model, text) => tokens(model, { bytes: Buffer.byteLength(text), images: 0 }),
    ratios: () => Object.fromEntries(known),
    calibrate: (model, request, usage) => {
      if (usage.estimated) return
      const size = sizeOf(request)
      const textTokens = usage.prompt_tokens - size.images * IMAGE_TOKENS
      if (textTokens < MIN_CALIBRATION_TOKENS) return
      const observed = clamp(size.bytes / textTokens)
      known.set(model, clamp(ratioOf(model) * (1 - NEW_WEIGHT) + observed * NEW_WEIGHT))
    },
  }
}

const clamp = (ratio: number): number => Math.min(MAX_RATIO, Math.max(MIN_RATIO, ratio))

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

function requestSize(request: Sized, weighTools: ToolScales): Size {
  const { bytes, images } = messagesSize(request.messages, request.images)
  return { bytes: bytes + jsonBytes(request.system) + weighTools(request.tools), images }
}

type ToolScales = (tools: Sized["tools"]) => number

/** Bytes of the tools as JSON. Each is weighed once: requests share them, and they never change. */
function createToolScales(): ToolScales {
  const known = new WeakMap<object, number>()
  const weigh = (tool: object): number => {
    const bytes = known.get(tool) ?? jsonBytes(tool)
    known.set(tool, bytes)
    return bytes
  }
  const brackets = 2
  return (tools) => {
    const commas = Math.max(0, tools.length - 1)
    return tools.reduce((sum, tool) => sum + weigh(tool), brackets + commas)
  }
}

/** A picture without bytes goes out as a text mark, so only those at hand are counted as pictures. */
function messagesSize(messages: ModelMessage[], images: ModelRequest["images"]): Size {
  let count = 0
  for (const message of messages)
    for (const block of message.blocks) if (block.type === "image" && images.has(block.id)) count++
  return { bytes: jsonBytes(messages), images: count }
}
