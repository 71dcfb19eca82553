/**
 * Content filters are deterministic: a request that one refuses is refused each time, and an early turn that
 * a filter takes offence at would lock the chat for good. The cause is searched in the past by bisection, left
 * out from then on, and the step is taken once more. What it cost is paid by the turn.
 */
import { bisectRefusal } from "../llm/bisect-refusal.ts"
import type { ModelRequest, ProviderFailure } from "../llm/provider.ts"
import type { Message } from "../schema/message.ts"
import type { StepSnapshot } from "../tools/snapshot.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"
import { buildRequest, loadImages, type StepAnswer, type StepRequest, takeStep } from "./step.ts"

/** Enough for one cause among a thousand turns: the newest alone, the halvings, and the proof of the rest. */
const PROBES_MAX = 12
/** The least that every provider accepts: whether it answers is all that counts. */
const PROBE_MAX_TOKENS = 16

/** What can be left out as a whole: a turn, or a message that started none. */
type Part = readonly Message[]

interface Search {
  parts: TurnParts
  turn: RunningTurn
  snapshot: StepSnapshot
  /** The model whose filter refused. */
  model: string
  /** What the probes consumed. */
  paid: StepAnswer["paid"]
}

/** A step, taken again without the past that a content filter refuses. */
export async function takeAcceptedStep(
  parts: TurnParts,
  turn: RunningTurn,
  step: StepRequest,
): Promise<StepAnswer> {
  const { snapshot } = step
  const refused = await takeStep(parts, turn, step)
  if (!mayBeThePast(refused, turn)) return refused
  const search: Search = { parts, turn, snapshot, model: refused.model, paid: [...refused.paid] }
  const found = await causesInPast(search)
  if (turn.signal.aborted) return { ...refused, failure: CANCELLED, paid: search.paid }
  if (!found) return { ...refused, paid: search.paid }
  leaveOut(turn, found)
  const answer = await takeStep(parts, turn, step)
  return { ...answer, paid: [...search.paid, ...answer.paid] }
}

const CANCELLED: ProviderFailure = { class: "cancelled", message: "cancelled" }

/** Nothing was shown yet, and the past did not already pass in an earlier step of the turn. */
const mayBeThePast = (answer: StepAnswer, turn: RunningTurn): boolean =>
  (answer.failure?.class === "refused" || answer.stop === "refusal") &&
  answer.blocks.length === 0 &&
  turn.step === 1 &&
  turn.conversation.past.length > 0

interface Causes {
  causes: Part[]
  kept: Part[]
  probes: number
}

/** Undefined when nothing in the past is to blame, or when the search came to no end. */
async function causesInPast(search: Search): Promise<Causes | undefined> {
  const { log, conversation } = search.turn
  const past = partsOf(conversation.past)
  try {
    const limits = { maxProbes: PROBES_MAX }
    const found = await bisectRefusal(past, (kept) => passes(search, kept), limits)
    if (!found) return undefined
    const { culprits, probes } = found
    return {
      causes: culprits.map((index) => past[index]!),
      kept: past.filter((_, index) => !culprits.includes(index)),
      probes,
    }
  } catch (error) {
    if (!(error instanceof Undecided)) throw error
    log.warn("the cause of a refusal was not found", { error: error.message })
    return undefined
  }
}

function partsOf(past: readonly Message[]): Part[] {
  const parts: Message[][] = []
  for (const message of past) {
    const last = parts.at(-1)
    const turnId = last?.[0]?.turn_id ?? null
    if (last && turnId !== null && turnId === message.turn_id) last.push(message)
    else parts.push([message])
  }
  return parts
}

/** The provider neither answered nor refused: no further probe would tell more. */
class Undecided extends Error {}

/** Whether the filter lets the turn through with this much of its past. */
async function passes(search: Search, kept: readonly Part[]): Promise<boolean> {
  const { parts, turn, snapshot, model, paid } = search
  const trial = { ...turn, conversation: turn.conversation.withPast(kept.flat()) }
  const images = await loadImages(parts, trial)
  const events = parts.router.stream({
    model,
    buildRequest: (target) => probeOf(buildRequest(parts, trial, { target, snapshot, images })),
    spender: { chat: turn.spec.chatId },
    signal: turn.signal,
    fallback: [],
    onOverflow: "fold",
    unseen: true,
  })
  for await (const event of events) {
    if (event.type === "usage") paid.push({ model, usage: event.usage })
    if (event.type === "stop") return event.reason !== "refusal"
    if (event.type !== "failed") continue
    if (event.failure.class === "refused") return false
    throw new Undecided(event.failure.message)
  }
  throw new Undecided("the stream ended without an end")
}

/** The same request as cheap as can be: short, without thought, and no cache is written for it. */
function probeOf(request: ModelRequest): ModelRequest {
  const { cacheTtl: _cache, sessionKey: _session, ...rest } = request
  return { ...rest, maxTokens: PROBE_MAX_TOKENS, effort: "off" }
}

/** For good: also out of every later turn's past. */
function leaveOut(turn: RunningTurn, { causes, kept, probes }: Causes): void {
  turn.exclude(causes.flat())
  turn.conversation = turn.conversation.withPast(kept.flat())
  const messages = causes.flat().map((message) => message.id)
  turn.log.warn("a content filter refuses earlier messages: they are left out", {
    messages,
    probes,
  })
  turn.live.emit({
    type: "retry",
    reason: `content_filter: ${messages.length} earlier messages are left out from now on`,
    wait_ms: 0,
    attempt: 2,
    model: turn.model,
  })
}
