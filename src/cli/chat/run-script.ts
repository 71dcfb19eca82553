/** One message and its answer without a screen: what `eva-kernel chat -p` does. */
import { sleep } from "../../lib/async.ts"
import type { Clock } from "../../lib/clock.ts"
import type { Effort } from "../../schema/effort.ts"
import { MUTED } from "./chat-view.ts"
import { ClientError, sentenceOf } from "./client-error.ts"
import type { KernelClient } from "./kernel-client.ts"
import type { Output } from "./output.ts"
import { plainText } from "./plain-words.ts"
import { readEvents, type WireEvent } from "./read-events.ts"
import { createScriptWriter, type ScriptForm, type ScriptWriter } from "./script-writer.ts"

export const EXIT = { answered: 0, failed: 1, usage: 2, cancelled: 130 } as const

export interface ScriptOptions {
  client: KernelClient
  clock: Clock
  text: string
  /** Makes the send repeatable. */
  key: string
  /** The chat to speak in; a new one when absent. */
  chatId?: string | undefined
  model?: string | undefined
  effort?: Effort | undefined
  form: ScriptForm
  out: Output
  err: Output
  isTerminal: boolean
  /** Fires when the user wants the turn to end. */
  cancel: AbortSignal
  /** Fires when nobody reads the answer any more: the turn goes on without this client. */
  leave: AbortSignal
  silenceMs?: number | undefined
  retryMs?: readonly number[] | undefined
  /** How long the kernel may be away before the script gives up. */
  patienceMs?: number | undefined
}

const RETRY_MS = [200, 500, 1000, 2000, 4000] as const
const PATIENCE_MS = 120_000

/** The exit code. Throws ClientError for what is wrong before anything was said. */
export async function runScript(options: ScriptOptions): Promise<number> {
  const { client, model, effort, form, err } = options
  const settings = {
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
  }
  const chat =
    options.chatId === undefined
      ? await client.createChat(settings)
      : await client.chat(options.chatId)
  if (form === "plain") err.write(`· chat ${chat.id}\n`)
  const turn = new ScriptTurn(options, chat.id, settings)
  return turn.run()
}

class ScriptTurn {
  readonly #options: ScriptOptions
  readonly #chatId: string
  readonly #settings: { model?: string; effort?: Effort }
  readonly #mute: string[] | undefined
  readonly #writer: ScriptWriter
  readonly #left: AbortSignal
  readonly #stop = new AbortController()
  #turnId: string | undefined
  #lastSeq = 0
  #end: WireEvent | undefined
  /** Since when the kernel has been away. */
  #lostAtMs: number | undefined

  constructor(
    options: ScriptOptions,
    chatId: string,
    settings: { model?: string; effort?: Effort },
  ) {
    this.#options = options
    this.#chatId = chatId
    this.#settings = settings
    this.#mute = options.form === "json" ? undefined : MUTED.split(",")
    this.#writer = createScriptWriter(options)
    this.#left = AbortSignal.any([options.leave, this.#stop.signal])
  }

  async run(): Promise<number> {
    const { cancel } = this.#options
    const onCancel = () => void this.#cancel()
    cancel.addEventListener("abort", onCancel)
    try {
      return await this.#follow()
    } finally {
      cancel.removeEventListener("abort", onCancel)
      this.#writer.end()
    }
  }

  async #follow(): Promise<number> {
    const { clock, retryMs = RETRY_MS, patienceMs = PATIENCE_MS } = this.#options
    for (let failures = 0; ; failures++) {
      try {
        await this.#listen()
      } catch (error) {
        if (!(error instanceof ClientError && error.passes)) throw error
        this.#lostAtMs ??= clock.monotonic()
        if (clock.monotonic() - this.#lostAtMs > patienceMs) throw this.#lost(error)
      }
      if (this.#end) return this.#verdict(this.#end)
      if (this.#left.aborted || this.#options.cancel.aborted) return EXIT.cancelled
      const pause = retryMs[Math.min(failures, retryMs.length - 1)]!
      await sleep(pause, AbortSignal.any([this.#left, this.#options.cancel]))
      this.#writer.again()
    }
  }

  /** One connection, to its end. */
  async #listen(): Promise<void> {
    const { silenceMs } = this.#options
    const stream = (await this.#rest()) ?? (await this.#send())
    this.#lostAtMs = undefined
    const onEvent = (event: WireEvent, line: string) => this.#hear(event, line)
    await readEvents(stream, { signal: this.#left, silenceMs, onEvent })
  }

  /** What came after the last event, when the kernel still knows it: that saves hearing all of it again. */
  async #rest(): Promise<Response | undefined> {
    if (this.#turnId === undefined) return undefined
    const query = { since: this.#lastSeq, mute: this.#mute?.join(",") }
    return this.#options.client.live(this.#chatId, query, this.#left)
  }

  #send(): Promise<Response> {
    const { client, text, key } = this.#options
    const mute = this.#mute && { mute: this.#mute }
    const body = { text, client_key: key, trusted: true, ...this.#settings, ...mute }
    return client.send(this.#chatId, body, this.#left)
  }

  #hear(event: WireEvent, line: string): void {
    if (this.#end || event.turn_id === undefined) return
    this.#turnId ??= event.turn_id
    if (event.turn_id !== this.#turnId) return
    this.#lastSeq = event.seq ?? this.#lastSeq
    this.#writer.event(event, line)
    if (event.type === "done" || event.type === "error") this.#end = event
    // Asked for before the turn had a name.
    if (this.#options.cancel.aborted && event.type === "accepted") void this.#cancel()
  }

  /** The kernel stores what was said so far; the stream then ends by itself. */
  async #cancel(): Promise<void> {
    if (this.#turnId === undefined) return
    await this.#options.client.cancelTurn(this.#turnId).catch((error: unknown) => {
      const isOver = error instanceof ClientError && error.code === "not_found"
      if (!isOver) this.#stop.abort()
    })
  }

  #verdict(end: WireEvent): number {
    if (end.type === "done") return end.reason === "cancelled" ? EXIT.cancelled : EXIT.answered
    const { err, form } = this.#options
    if (form !== "json") {
      this.#writer.end()
      err.write(`eva-kernel: ${plainText(String(end.message))}\n`)
    }
    return EXIT.failed
  }

  #lost(error: ClientError): ClientError {
    const advice = `the turn may have gone on: eva-kernel chat --chat ${this.#chatId}`
    return new ClientError("lost", `${sentenceOf(error)}; ${advice}`, { cause: error })
  }
}
