/**
 * What the kernel asks of a client and waits for: operations, calls of extra tools, questions. All wait in
 * this one table, each with a limit and a turn it belongs to, and every outcome is told as
 * `request_resolved`, so that a client closes its dialog by what happened and not by a timer.
 */
import { deferred, sleep } from "../lib/async.ts"
import type { TurnEvent } from "../schema/event.ts"
import type { RequestKind, ResolutionReason } from "../schema/resolution.ts"

/** The turn that asks. */
export interface AskingTurn {
  chatId: string
  turnId: string
  /** Fires when the turn is cancelled. */
  signal: AbortSignal
  ended(): boolean
  /** Tells the turn's listeners, also when its own end was told before. */
  emit(event: TurnEvent): void
}

export interface ClientRequest<A> {
  kind: Exclude<RequestKind, "permission">
  /** The id under which clients answer; unique in its chat, and nearly always beyond. */
  id: string
  /** The place of a question in its call. */
  question?: number
  turn: AskingTurn
  /** What tells the client of it. */
  ask?: TurnEvent
  timeoutMs: number
  /** How long an answer may still come after the turn was cancelled, for what may be half done. */
  graceMs?: number
  /** Throws KernelError("invalid") for an answer that does not fit; the request then goes on waiting. */
  check?(answer: A): void
  /** Takes a snapshot of what the client has so far. */
  onProgress?(output: string): void
}

export type Outcome<A> =
  | { reason: "answered"; answer: A }
  | { reason: Exclude<ResolutionReason, "answered"> }

interface Entry {
  request: ClientRequest<never>
  /** Nobody waits for it any more, though its end is not told yet. */
  isGivenUp: boolean
  settle(outcome: Outcome<unknown>): void
}

/** Which request an answer is for. */
export interface RequestName {
  kind: ClientRequest<unknown>["kind"]
  id: string
  question?: number | undefined
  /** Whose request is meant when several bear this id. */
  chatId: string
  /** Whether a request of another chat may be meant, too. */
  anyChat?: boolean
}

export class Pending {
  /** In the order of asking. */
  readonly #entries = new Set<Entry>()
  /** Questions that clients have seen and that do not wait yet. */
  readonly #announced = new Map<string, { chatId: string; waits: PromiseWithResolvers<void> }>()

  /** A client may answer from the moment it sees a question, so what was announced is awaited first. */
  announce(chatId: string, id: string): void {
    this.#announced.set(announcedKey(chatId, id), { chatId, waits: Promise.withResolvers() })
  }

  /** The question waits, or never will. */
  announcedWaits(chatId: string, id: string): void {
    const key = announcedKey(chatId, id)
    this.#announced.get(key)?.waits.resolve()
    this.#announced.delete(key)
  }

  /** Resolves when every question that clients of this chat have seen waits for its answer. */
  async allWait(chatId: string): Promise<void> {
    const announced = [...this.#announced.values()].filter((one) => one.chatId === chatId)
    await Promise.all(announced.map(({ waits }) => waits.promise))
  }

  /** Waits for the client. Resolves in every case, at the latest when the turn is over. */
  async wait<A>(request: ClientRequest<A>): Promise<Outcome<A>> {
    const { timeoutMs, turn, graceMs = 0, ask } = request
    // A tool that nobody waits for any more must not trouble the client.
    if (turn.ended()) return { reason: "turn_ended" }
    if (turn.signal.aborted) return { reason: "cancelled" }
    const settled = new AbortController()
    const { promise, resolve } = deferred<Outcome<A>>()
    const entry: Entry = {
      request: request as ClientRequest<never>,
      isGivenUp: false,
      settle: (outcome) => {
        resolve(outcome as Outcome<A>)
        settled.abort()
      },
    }
    this.#entries.add(entry)
    this.announcedWaits(turn.chatId, request.id)
    void sleep(timeoutMs, settled.signal).then(() => {
      if (!settled.signal.aborted) this.#resolve(entry, { reason: "expired" })
    })
    const onCancel = () =>
      void sleep(graceMs, settled.signal).then(() => {
        // Its end is told when the turn is over: until then it was asked and not answered.
        entry.isGivenUp = true
        entry.settle({ reason: "cancelled" })
      })
    turn.signal.addEventListener("abort", onCancel, { once: true })
    if (ask) turn.emit(ask)
    const outcome = await promise
    turn.signal.removeEventListener("abort", onCancel)
    return outcome
  }

  /** Gives the answer to the request that it is for; false when none such waits. Throws what its check throws. */
  answer<A>(name: RequestName, answer: A): boolean {
    const entry = this.#find(name)
    if (!entry) return false
    ;(entry.request as ClientRequest<A>).check?.(answer)
    this.#resolve(entry, { reason: "answered", answer })
    return true
  }

  /** False when no such operation waits. */
  progress(name: RequestName, output: string): boolean {
    const entry = this.#find(name)
    entry?.request.onProgress?.(output)
    return entry !== undefined
  }

  /** The turn is over and stored: whatever still waits for its client is settled. */
  endTurn(turnId: string, reason: "turn_ended" | "cancelled"): void {
    for (const entry of [...this.#entries]) {
      if (entry.request.turn.turnId === turnId) this.#resolve(entry, { reason })
    }
  }

  waits = (name: RequestName): boolean => this.#find(name) !== undefined

  /** The id of what has waited longest in this chat. */
  earliest(kind: RequestName["kind"], chatId: string): string | undefined {
    const waiting = [...this.#entries].filter(({ isGivenUp }) => !isGivenUp)
    return waiting.find(({ request }) => request.kind === kind && request.turn.chatId === chatId)
      ?.request.id
  }

  /** Nobody waits for what this turn asked; its end is told when the turn is over. */
  giveUp(turnId: string): void {
    for (const entry of this.#entries) {
      if (entry.request.turn.turnId !== turnId) continue
      entry.isGivenUp = true
      entry.settle({ reason: "turn_ended" })
    }
  }

  /** How many wait: a gauge for tests. */
  size = (): number => this.#entries.size

  #find(name: RequestName): Entry | undefined {
    const fitting = [...this.#entries].filter(({ request, isGivenUp }) => {
      if (isGivenUp || request.kind !== name.kind || request.id !== name.id) return false
      return request.question === name.question
    })
    const own = fitting.find(({ request }) => request.turn.chatId === name.chatId)
    return own ?? (name.anyChat ? fitting[0] : undefined)
  }

  #resolve(entry: Entry, outcome: Outcome<unknown>): void {
    if (!this.#entries.delete(entry)) return
    const { kind, id, question, turn } = entry.request
    const { reason } = outcome
    turn.emit({
      ...{ type: "request_resolved", id, kind, reason },
      ...(question !== undefined && { question }),
    })
    entry.settle(outcome)
  }
}

const announcedKey = (chatId: string, id: string): string => `${chatId} ${id}`
