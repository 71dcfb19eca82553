/** One trip to the provider: the request, its stream to the live stream, and the answer folded. */
import { createHeaderShield } from "../context/fragments/forged-header.ts"
import { summaryText } from "../context/fragments/summary.ts"
import { type SystemView, systemParts } from "../context/fragments/system.ts"
import { type MachineView, requestMessages } from "../context/request.ts"
import { errorText } from "../lib/error.ts"
import { createFold, type FoldedMessage } from "../llm/fold.ts"
import type { ModelEntry, Target } from "../llm/models.ts"
import type { ImageData, ModelRequest } from "../llm/provider.ts"
import type { RoutedEvent, Trip } from "../llm/router.ts"
import { planText } from "../plan/plan-text.ts"
import type { Usage } from "../schema/usage.ts"
import type { StepSnapshot } from "../tools/snapshot.ts"
import { effortOf, isUncapped } from "./mode.ts"
import { notebookOf } from "./notebook.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"
import type { TurnSpec } from "./spec.ts"
import { isHeaded } from "./spec.ts"

export interface StepAnswer extends FoldedMessage {
  /** The model that answered, and the upstream it stands at. */
  model: string
  upstream: string
  /** What each attempt consumed: a broken one was paid, too. */
  paid: { model: string; usage: Usage }[]
}

export interface StepRequest {
  snapshot: StepSnapshot
  onOverflow: Trip["onOverflow"]
}

export async function takeStep(
  parts: TurnParts,
  turn: RunningTurn,
  { snapshot, onOverflow }: StepRequest,
): Promise<StepAnswer> {
  const images = await loadImages(parts, turn)
  const answer = new StepReader(parts, turn)
  const events = parts.router.stream({
    model: turn.model,
    buildRequest: (target) => buildRequest(parts, turn, { target, snapshot, images }),
    spender: { chat: turn.spec.chatId },
    signal: turn.signal,
    onOverflow,
  })
  for await (const event of events) {
    if (event.type === "image") await answer.keepPicture(event)
    else answer.read(event)
  }
  return answer.result()
}

/** Folds one trip and tells the live stream, in the order in which things came. */
class StepReader {
  readonly #parts: TurnParts
  readonly #turn: RunningTurn
  #model = ""
  #upstream = ""
  #fold = createFold({ provider: "", model: "" }, () => "")
  /** Where people's messages bear headers, models begin to write some. */
  readonly #shield: ReturnType<typeof createHeaderShield> | undefined
  readonly #pictures: FoldedMessage["blocks"] = []
  readonly #paid: StepAnswer["paid"] = []

  constructor(parts: TurnParts, turn: RunningTurn) {
    this.#parts = parts
    this.#turn = turn
    this.#shield = isHeaded(turn.spec) ? createHeaderShield() : undefined
  }

  read(event: Exclude<RoutedEvent, { type: "image" }>): void {
    const { live } = this.#turn
    if (event.type !== "text") this.#say(this.#shield?.end() ?? "")
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
        this.#say(this.#shield?.push(event.text) ?? event.text)
        return
      case "thinking":
        live.emit({ type: "thinking_delta", text: event.text })
        break
      case "usage":
        this.#paid.push({ model: this.#model, usage: event.usage })
        break
      default:
        break
    }
    this.#fold.push(event)
  }

  #say(text: string): void {
    if (text === "") return
    this.#turn.live.emit({ type: "text_delta", text })
    this.#fold.push({ type: "text", text })
  }

  /** A picture that cannot be kept costs itself, not the turn. */
  async keepPicture(event: { base64: string }): Promise<void> {
    const { images } = this.#parts
    const bytes = Uint8Array.fromBase64(event.base64)
    const kept = await images
      .keepDrawn({ bytes, chatId: this.#turn.spec.chatId })
      .catch((error: unknown) => {
        this.#turn.log.warn("a drawn picture was lost", { error: errorText(error) })
      })
    if (!kept) return
    const { id, media_type } = kept
    this.#pictures.push({ type: "image", id, media_type })
    this.#turn.live.emit({ type: "image", id, media_type, url: images.url(id) })
  }

  result(): StepAnswer {
    this.#say(this.#shield?.end() ?? "")
    const folded = this.#fold.result()
    // Some servers say "tool calls" where their output limit cut the call: the count gives it away.
    const written = folded.usage?.completion_tokens ?? 0
    const hitLimit = written >= maxTokensOf(this.#parts, this.#turn)
    return {
      ...folded,
      cutCallId: folded.cutCallId ?? (hitLimit ? folded.unfinishedCallId : undefined),
      blocks: [...folded.blocks, ...this.#pictures],
      model: this.#model || this.#turn.model,
      upstream: this.#upstream,
      paid: this.#paid,
    }
  }
}

/** One usage event for each attempt that consumed something. */
export function emitUsage(turn: RunningTurn, answer: StepAnswer): void {
  const limits = answer.rateLimits
  for (const { model, usage } of answer.paid) {
    const rate_limits = limits.length > 0 ? limits : undefined
    turn.live.emit({ type: "usage", ...usage, model, ...(rate_limits && { rate_limits }) })
  }
}

/** The pictures that the request would show, by id. */
export async function loadImages(
  parts: TurnParts,
  turn: RunningTurn,
): Promise<ReadonlyMap<string, ImageData>> {
  const { entry } = parts.router.models.resolve(turn.model)
  if (!entry.multimodal) return new Map()
  const { messages } = turn.conversation.shown(historyView(parts, turn, true))
  const ids = messages.flatMap((message) =>
    message.blocks.flatMap((block) => (block.type === "image" ? [block.id] : [])),
  )
  return ids.length === 0 ? new Map() : parts.images.load(ids)
}

export const historyView = (
  parts: TurnParts,
  { spec }: { spec: Pick<TurnSpec, "id"> },
  vision: boolean,
) => ({
  currentTurnId: spec.id,
  vision,
  imageUrl: parts.images.url,
  personName: parts.personName,
  stamp: parts.settings.zone.stamp,
})

/** The request for one model: a substitute gets its own system text, effort and view of the history. */
export function buildRequest(
  parts: TurnParts,
  turn: RunningTurn,
  step: { target: Target; snapshot: StepSnapshot; images: ReadonlyMap<string, ImageData> },
): ModelRequest {
  const { target, snapshot, images } = step
  const { entry, upstream } = target
  const { settings } = parts
  const temperature = upstream.defaults.temperature ?? settings.temperature
  const cacheTtl = cacheTtlOf(parts, turn, target)
  const history = turn.conversation.shown(historyView(parts, turn, entry.multimodal))
  const cacheMark = cacheTtl !== undefined
  return {
    model: entry.name,
    system: systemParts(systemOf(parts, turn, { entry, cacheMark })),
    messages: requestMessages(history, machineView(parts, turn), cacheMark),
    tools: [...snapshot.specs],
    maxTokens: maxTokensOf(parts, turn),
    effort: effortOf(parts, turn, target),
    images,
    sessionKey: turn.spec.chatId,
    ...(temperature !== undefined && { temperature }),
    ...(cacheTtl !== undefined && { cacheTtl }),
    ...(entry.imageOutput && { imageOutput: true }),
  }
}

/** The system part of a turn's request to this model. */
export const systemOf = (
  parts: TurnParts,
  { spec, saysAtLength, catalogue, project, notes }: RunningTurn,
  { entry, cacheMark }: { entry: ModelEntry; cacheMark: boolean },
): SystemView =>
  systemView(parts, {
    ...{ entry, cacheMark },
    identity: spec.identity,
    headed: isHeaded(spec),
    ...{ project, clientContext: spec.clientContext },
    brief: spec.brief && !saysAtLength,
    hasNotebook: notes !== undefined,
    catalogue: catalogue.text(entry.contextWindow),
  })

/** What the kernel tells at the end of a request. */
export function machineView(parts: TurnParts, turn: RunningTurn): MachineView {
  const { settings, clock, personName } = parts
  const { spec, folded } = turn
  return {
    now: settings.zone.local(clock.now()),
    workdir: workdirShown(parts, spec),
    tripsLeft: isUncapped(turn) ? undefined : settings.maxIterations - turn.step,
    ultrathink: spec.ultrathink,
    squeezed: turn.conversation.isSqueezed(),
    window: turn.window,
    summary: folded ? summaryText(folded, settings.zone) : "",
    speaker: {
      identity: spec.identity,
      sender: spec.sender,
      name: spec.sender === undefined ? undefined : personName(spec.sender),
    },
    memory: turn.memory,
    notebook: notebookOf(parts, turn),
    plan: spec.identity.master ? planText(parts.plans.ofChat(spec.chatId)) : "",
  }
}

/** As it is now: the agent may have moved within the turn. Where others read along it is nobody's business. */
function workdirShown({ chats }: TurnParts, { chatId, identity }: TurnSpec): string {
  if (!identity.master || identity.public) return ""
  const { workdir, workdir_on } = chats.get(chatId)
  return workdir === null ? "" : `${workdir} (${workdir_on})`
}

/** What the stable head of a request to this model is made of. */
export const systemView = (
  { settings }: Pick<TurnParts, "settings">,
  { entry, ...turn }: Omit<SystemView, "persona" | "jailbreak" | "build"> & { entry: ModelEntry },
): SystemView => ({
  ...turn,
  persona: settings.persona,
  jailbreak: entry.jailbreak,
  build: settings.build,
})

function maxTokensOf(parts: TurnParts, turn: RunningTurn): number {
  const { maxTokens, maxTokensGuest } = parts.settings
  const { identity, maxTokens: asked = Number.POSITIVE_INFINITY } = turn.spec
  return Math.min(identity.master ? maxTokens : Math.min(maxTokens, maxTokensGuest), asked)
}

function cacheTtlOf(parts: TurnParts, turn: RunningTurn, target: Target): "5m" | "1h" | undefined {
  const { promptCache, promptCacheSurface } = parts.settings
  const general = target.upstream.defaults.cacheTtl ?? promptCache
  if (!turn.spec.identity.anchored || promptCacheSurface === undefined) return general
  return promptCacheSurface === "off" ? undefined : promptCacheSurface
}
