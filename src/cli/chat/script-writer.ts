/**
 * What a script sees of a turn: the answer on stdout, the steps on stderr; or every event as it came. A turn
 * that is told again after a broken connection goes on where it was, without a word twice.
 */
import type { Item } from "../../schema/item.ts"
import type { Output } from "./output.ts"
import { callLine, failureLine, plainText } from "./plain-words.ts"
import type { ItemEvent, WireEvent } from "./read-events.ts"

export type ScriptForm = "plain" | "quiet" | "json"

export interface ScriptWriter {
  /** `line` is the event as it was received. */
  event(event: WireEvent, line: string): void
  /** The stream begins again, maybe from the turn's beginning. */
  again(): void
  /** Nothing more comes. */
  end(): void
}

export interface WriterOptions {
  form: ScriptForm
  out: Output
  err: Output
  /** The output is a terminal: escape sequences of the model must not reach it. */
  isTerminal: boolean
}

export function createScriptWriter(options: WriterOptions): ScriptWriter {
  if (options.form !== "json") return new PlainWriter(options)
  return {
    event: (_event, line) => options.out.write(`${line}\n`),
    again: () => {},
    end: () => {},
  }
}

class PlainWriter implements ScriptWriter {
  readonly #options: WriterOptions
  /** What the items of this telling say so far. */
  #said = new Map<string, string>()
  /** What is written, one text a message; the last one may grow. */
  readonly #written: string[] = []
  /** Which of these is which item of this telling, and from where the next one is looked for. */
  #places = new Map<string, number>()
  #next = 0
  readonly #calls = new Set<string>()
  #atLineStart = true
  /** The newest message of the model: the last one is what it had to say. */
  #answer = ""
  #ended = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  event(event: WireEvent): void {
    switch (event.type) {
      case "item_started":
      case "item_completed":
        this.#item(event.type, (event as unknown as { item: Item }).item)
        break
      case "item_delta": {
        const { id, delta } = event as unknown as Extract<ItemEvent, { type: "item_delta" }>
        const before = this.#said.get(id)
        if (before !== undefined && delta.text) this.#speak(id, before + delta.text)
        break
      }
      case "retry":
      case "fallback":
        this.#tell(`${event.type}: ${plainText(String(event.reason))}`)
        break
    }
  }

  again(): void {
    this.#said = new Map()
    this.#places = new Map()
    this.#next = 0
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    const { form, out } = this.#options
    if (form === "quiet") {
      out.write(this.#shown(this.#answer))
      this.#atLineStart = this.#answer === "" || this.#answer.endsWith("\n")
    }
    if (!this.#atLineStart) out.write("\n")
  }

  #item(type: "item_started" | "item_completed", item: Item): void {
    if (item.kind === "agent_message") {
      this.#speak(item.id, item.text)
      if (type === "item_completed") this.#pass(item)
      return
    }
    if (item.kind === "image" && type === "item_completed") {
      this.#breakLine()
      this.#say(`${item.url}\n`)
      return
    }
    if (item.kind === "tool_call") this.#call(type, item)
  }

  #call(type: string, item: Extract<Item, { kind: "tool_call" }>): void {
    const key = `${type} ${item.call_id}`
    if (this.#calls.has(key)) return
    this.#calls.add(key)
    const line = type === "item_started" ? callLine(item) : failureLine(item)
    if (line !== undefined) this.#tell(line)
  }

  /** `text` is all that this item says so far. Nothing is written twice, however often it is told. */
  #speak(id: string, text: string): void {
    this.#said.set(id, text)
    this.#answer = text
    const place = this.#places.get(id) ?? this.#find(text)
    const written = this.#written[place]
    if (written === undefined) {
      this.#breakLine()
      this.#written.push("")
    } else if (written.startsWith(text)) {
      return
    }
    const at = written === undefined ? this.#written.length - 1 : place
    this.#say(text.slice(this.#written[at]!.length))
    this.#written[at] = text
    this.#places.set(id, at)
    this.#next = at + 1
  }

  /** The text that this one repeats, or goes on; -1 for another message or a turn that now says something else. */
  #find(text: string): number {
    const last = this.#written.length - 1
    return this.#written.findIndex(
      (written, at) =>
        at >= this.#next && (written.startsWith(text) || (at === last && text.startsWith(written))),
    )
  }

  /** A message that was only told again is behind. */
  #pass({ id, text }: { id: string; text: string }): void {
    if (!this.#places.has(id)) this.#next = this.#find(text) + 1
  }

  #say(text: string): void {
    const { form, out } = this.#options
    if (form === "quiet" || text === "") return
    out.write(this.#shown(text))
    this.#atLineStart = text.endsWith("\n")
  }

  #shown = (text: string): string => (this.#options.isTerminal ? plainText(text) : text)

  /** A step, beside the answer. */
  #tell(line: string): void {
    if (this.#options.form === "quiet") return
    this.#breakLine()
    this.#options.err.write(`· ${line}\n`)
  }

  #breakLine(): void {
    if (this.#atLineStart || this.#options.form === "quiet") return
    this.#options.out.write("\n")
    this.#atLineStart = true
  }
}
