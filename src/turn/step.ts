/** One trip to the provider: the request, its stream to the live stream, and the answer folded. */
import { systemParts } from "../context/fragments/system.ts"
import { requestMessages, WRAPUP_TRIPS } from "../context/request.ts"
import { effortFor } from "../llm/effort.ts"
import { createFold, type FoldedMessage } from "../llm/fold.ts"
import type { ImageData, ModelMessage, ModelRequest } from "../llm/provider.ts"
import type { ModelEntry, RoutedEvent } from "../llm/router.ts"
import { emptyUsage, type Usage } from "../schema/usage.ts"
import type { StepSnapshot } from "../tools/snapshot.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

export interface StepAnswer extends FoldedMessage {
  /** The model that answered, and the upstream it stands at. */
  model: string
  upstream: string
}

export async function takeStep(
  parts: TurnParts,
  turn: RunningTurn,
  snapshot: StepSnapshot,
): Promise<StepAnswer> {
  const images = await loadImages(parts, turn)
  const answer = new StepReader(parts, turn)
  const events = parts.models.stream({
    model: turn.model,
    build: (entry) => buildRequest(parts, turn, { entry, snapshot, images }),
    spender: { chat: turn.spec.chatId },
    signal: turn.signal,
  })
  for await (const event of events) answer.read(event)
  return answer.result()
}

/** Folds one trip and tells the live stream, in the order in which things came. */
class StepReader {
  readonly #parts: TurnParts
  readonly #turn: RunningTurn
  #model = ""
  #upstream = ""
  #fold = createFold({ provider: "", model: "" }, () => "")
  readonly #pictures: FoldedMessage["blocks"] = []

  constructor(parts: TurnParts, turn: RunningTurn) {
    this.#parts = parts
    this.#turn = turn
  }

  read(event: RoutedEvent): void {
    const { live } = this.#turn
    switch (event.type) {
      case "model":
        // Each attempt starts anew: nothing of a failed one had reached anybody.
        this.#model = event.model
        this.#upstream = event.upstream
        this.#fold = createFold(
          { provider: event.provider, model: event.model },
          () => `call_${this.#parts.newId().replaceAll("-", "")}`,
        )
        return
      case "retrying":
        live.emit({
          type: "retry",
          reason: this.#parts.redact(event.reason),
          wait_ms: Math.round(event.waitMs),
          attempt: event.attempt,
          model: event.model,
        })
        return
      case "fallback":
        live.emit({
          type: "fallback",
          from: event.from,
          to: event.to,
          reason: this.#parts.redact(event.reason),
        })
        return
      case "text":
        live.emit({ type: "text_delta", text: event.text })
        break
      case "thinking":
        live.emit({ type: "thinking_delta", text: event.text })
        break
      case "image":
        this.#keepPicture(event)
        return
      default:
        break
    }
    this.#fold.push(event)
  }

  #keepPicture(event: { mediaType: string; base64: string }): void {
    const { images } = this.#parts
    const { mediaType, base64 } = event
    const block = images.keepDrawn({ base64, mediaType, chatId: this.#turn.spec.chatId })
    this.#pictures.push(block)
    const { id, media_type } = block
    this.#turn.live.emit({ type: "image", id, media_type, url: images.url(id) })
  }

  result(): StepAnswer {
    const folded = this.#fold.result()
    return {
      ...folded,
      blocks: [...folded.blocks, ...this.#pictures],
      model: this.#model || this.#turn.model,
      upstream: this.#upstream,
    }
  }
}

/** The usage event of a trip; a trip without any figures still counts as one. */
export function emitUsage(turn: RunningTurn, answer: StepAnswer): Usage {
  const usage = answer.usage ?? { ...emptyUsage(), estimated: true }
  const limits = answer.rateLimits
  turn.live.emit({
    type: "usage",
    ...usage,
    model: answer.model,
    ...(limits.length > 0 && { rate_limits: limits }),
  })
  return usage
}

async function loadImages(
  parts: TurnParts,
  turn: RunningTurn,
): Promise<ReadonlyMap<string, ImageData>> {
  const entry = parts.models.resolve(turn.model)
  if (!entry.multimodal) return new Map()
  const messages = turn.conversation.shown(historyView(parts, turn, true))
  const ids = messages.flatMap((message) =>
    message.blocks.flatMap((block) => (block.type === "image" ? [block.id] : [])),
  )
  return ids.length === 0 ? new Map() : parts.images.load(ids)
}

const historyView = (parts: TurnParts, turn: RunningTurn, vision: boolean) => ({
  currentTurnId: turn.spec.id,
  vision,
  imageUrl: parts.images.url,
  personName: parts.personName,
})

/** The request for one model: a substitute gets its own system text, effort and view of the history. */
function buildRequest(
  parts: TurnParts,
  turn: RunningTurn,
  step: { entry: ModelEntry; snapshot: StepSnapshot; images: ReadonlyMap<string, ImageData> },
): ModelRequest {
  const { entry, snapshot, images } = step
  const { settings } = parts
  const { spec } = turn
  const cacheTtl = cacheTtlOf(parts, turn, entry)
  const history: ModelMessage[] = turn.conversation.shown(
    historyView(parts, turn, entry.multimodal === true),
  )
  const system = systemParts({
    persona: settings.persona,
    jailbreak: entry.jailbreak,
    clientContext: spec.clientContext,
    brief: spec.brief,
    build: settings.build,
    cacheMark: cacheTtl !== undefined,
  })
  const state = {
    nowMs: parts.clock.now(),
    zone: settings.zone,
    tripsLeft: tripsLeft(parts, turn),
    ultrathink: spec.ultrathink,
  }
  return {
    model: entry.name,
    system,
    messages: requestMessages(history, state, cacheTtl !== undefined),
    tools: [...snapshot.specs],
    maxTokens: maxTokensOf(parts, turn),
    effort: effortFor({
      ...turn.effortWishes,
      ultrathink: spec.ultrathink,
      entry: entry.effort,
      global: entry.reasoning ?? settings.reasoning,
    }),
    images,
    sessionKey: spec.chatId,
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(cacheTtl !== undefined && { cacheTtl }),
    ...(entry.imageOutput && { imageOutput: true }),
  }
}

/** Told only when the cap is near, and never to a turn without one. */
function tripsLeft(parts: TurnParts, turn: RunningTurn): number | undefined {
  if (turn.spec.uncapped) return undefined
  const left = parts.settings.maxIterations - turn.step
  return left <= WRAPUP_TRIPS ? left : undefined
}

function maxTokensOf(parts: TurnParts, turn: RunningTurn): number {
  const { maxTokens, maxTokensGuest } = parts.settings
  const { identity, maxTokens: asked = Number.POSITIVE_INFINITY } = turn.spec
  return Math.min(identity.master ? maxTokens : Math.min(maxTokens, maxTokensGuest), asked)
}

function cacheTtlOf(
  parts: TurnParts,
  turn: RunningTurn,
  entry: ModelEntry,
): "5m" | "1h" | undefined {
  const { promptCache, promptCacheSurface } = parts.settings
  const general = entry.promptCache ?? promptCache
  if (!turn.spec.identity.anchored || promptCacheSurface === undefined) return general
  return promptCacheSurface === "off" ? undefined : promptCacheSurface
}
