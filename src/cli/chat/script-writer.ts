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
  /** By item: what was said in this telling, and what of it is written. */
  #said = new Map<string, string>()
  readonly #written = new Map<string, string>()
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

  /** `text` is all that this item says so far. */
  #speak(id: string, text: string): void {
    this.#said.set(id, text)
    this.#answer = text
    const written = this.#written.get(id)
    if (written?.startsWith(text)) return
    const goesOn = written !== undefined && text.startsWith(written)
    // Another message, or a turn that was taken up anew and says something else.
    if (!goesOn) this.#breakLine()
    this.#say(goesOn ? text.slice(written.length) : text)
    this.#written.set(id, text)
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
