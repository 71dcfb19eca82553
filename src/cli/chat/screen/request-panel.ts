/**
 * What the kernel asks, above the input: an operation on this machine with what it would change, or a
 * question with its options. It answers to keys as long as the input is empty, so that nobody decides in
 * the middle of a word.
 */
import { matchesKey, truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import type { DetailLine } from "../hands/op-request.ts"
import type { OperationRequest, PendingRequest, QuestionRequest, Session } from "../session.ts"
import type { Attempt } from "./boxes.ts"
import { safeLine, safeText } from "./safe-text.ts"
import type { Style, Theme } from "./theme.ts"

export interface PanelParts {
  session: Session
  theme: Theme
  attempt: Attempt
}

interface Option {
  label: string
  hint?: string
  /** Of a question that takes several: its label counts as an answer. */
  isChoice?: boolean
  take(): Promise<void>
}

const DECISIONS: Readonly<Record<string, string>> = {
  allow: "allow",
  allow_session: "allow for this session",
  allow_always: "allow always in this project",
  deny: "deny",
}

const META: Readonly<Record<string, string>> = {
  discuss: "talk it over first",
  answer_in_text: "answer in own words: type them and press Enter",
}

/** How many lines a page of details scrolls. */
const PAGE = 5
const INDENT = "  "

export class RequestPanel {
  readonly #parts: PanelParts
  #shownId: string | undefined
  #at = 0
  #scroll = 0
  readonly #chosen = new Set<string>()

  constructor(parts: PanelParts) {
    this.#parts = parts
  }

  /** At most `rows` lines. What may be chosen comes before what would change. */
  render({ width, rows }: { width: number; rows: number }): string[] {
    const { theme, session } = this.#parts
    const { pending } = session.state()
    const request = this.#current()
    if (request === undefined || rows <= 0) return []
    const more = pending.length > 1 ? theme.dim(` · ${pending.length - 1} more`) : ""
    const head = wrapTextWithAnsi(
      `${theme.warn("?")} ${theme.bold(titleOf(request))}${more}`,
      width,
    )
    const options = this.#optionsOf(request).map((option, index) =>
      this.#optionLine(option, index, { width, request }),
    )
    const room = Math.max(0, rows - head.length - options.length)
    return [...head, ...this.#details(request, { width, rows: room }), ...options].slice(0, rows)
  }

  /** Whether the key was one of answering. */
  handleKey(data: string, isInputEmpty: boolean): boolean {
    const request = this.#current()
    if (request === undefined) return false
    // Closing the question is refusing, whatever else is being typed.
    if (request.kind === "operation" && matchesKey(data, "escape")) {
      this.#parts.attempt(() => this.#parts.session.decide(request, "deny"))
      return true
    }
    return isInputEmpty && this.#handleOpenKey(data, request)
  }

  #handleOpenKey(data: string, request: PendingRequest): boolean {
    const options = this.#optionsOf(request)
    const option = options[this.#at]
    if (matchesKey(data, "up")) this.#at = (this.#at + options.length - 1) % options.length
    else if (matchesKey(data, "down")) this.#at = (this.#at + 1) % options.length
    else if (matchesKey(data, "pageUp")) this.#scroll = Math.max(0, this.#scroll - PAGE)
    else if (matchesKey(data, "pageDown")) this.#scroll += PAGE
    else if (matchesKey(data, "space") && isMultiple(request) && option?.isChoice)
      toggle(this.#chosen, option.label)
    else if (matchesKey(data, "enter") && option) this.#parts.attempt(() => option.take())
    else return false
    return true
  }

  /** The first one that waits; another one begins afresh. */
  #current(): PendingRequest | undefined {
    const request = this.#parts.session.state().pending[0]
    if (request?.id !== this.#shownId) {
      this.#shownId = request?.id
      this.#at = 0
      this.#scroll = 0
      this.#chosen.clear()
    }
    return request
  }

  #optionsOf(request: PendingRequest): Option[] {
    return request.kind === "operation"
      ? this.#decisionOptions(request)
      : this.#questionOptions(request)
  }

  /** Decisions that this client does not know are left out. */
  #decisionOptions(request: OperationRequest): Option[] {
    const known = request.decisions.filter((decision) => decision in DECISIONS)
    const decisions = known.includes("deny") ? known : [...known, "deny"]
    return decisions.map((decision) => ({
      label: DECISIONS[decision]!,
      ...(decision === "deny" && { hint: "Esc" }),
      take: () => this.#parts.session.decide(request, decision),
    }))
  }

  #questionOptions(request: QuestionRequest): Option[] {
    const { session } = this.#parts
    const choices = request.options.map(({ label, description }): Option => {
      const chosen = () => (this.#chosen.size > 0 ? [...this.#chosen] : [label])
      return {
        label,
        ...(description !== undefined && { hint: description }),
        isChoice: true,
        take: () => session.answer(request, { chosen: isMultiple(request) ? chosen() : [label] }),
      }
    })
    const decisions = request.decisions.filter((decision) => decision in META)
    const others = decisions.map((decision): Option => {
      return { label: META[decision]!, take: () => session.answer(request, { decision }) }
    })
    return [...choices, ...others]
  }

  #optionLine(
    { label, hint, isChoice }: Option,
    index: number,
    at: { width: number; request: PendingRequest },
  ): string {
    const { theme } = this.#parts
    const isAt = index === this.#at
    const mark =
      isMultiple(at.request) && isChoice ? `[${this.#chosen.has(label) ? "x" : " "}] ` : ""
    const words = `${isAt ? "›" : " "} ${mark}${safeLine(label)}`
    const end = hint === undefined ? "" : theme.dim(` · ${safeLine(hint)}`)
    return truncateToWidth((isAt ? theme.accent(words) : words) + end, at.width, "…")
  }

  #details(request: PendingRequest, room: { width: number; rows: number }): string[] {
    if (request.kind !== "operation" || request.details.length === 0 || room.rows <= 0) return []
    const { theme } = this.#parts
    const { width, rows } = room
    const lines = request.details.flatMap((detail) => detailLines(detail, { width, theme }))
    if (lines.length <= rows) return lines
    this.#scroll = Math.min(this.#scroll, lines.length - rows + 1)
    const end = this.#scroll + rows - 1
    const left = lines.length - end
    const note = theme.dim(left > 0 ? `… ${left} more lines · PgDn` : "end · PgUp")
    return [...lines.slice(this.#scroll, end), truncateToWidth(INDENT + note, width, "…")]
  }
}

const isMultiple = (request: PendingRequest): boolean =>
  request.kind === "question" && request.isMultiple

function titleOf(request: PendingRequest): string {
  const title = safeLine(request.title)
  if (request.kind === "question" || request.agent === undefined) return title
  return `${safeLine(request.agent)}: ${title}`
}

const SIGNS: Record<DetailLine["kind"], string> = {
  ...{ same: "  ", added: "+ ", removed: "- ", plain: "" },
}

/** All of it, wrapped: what is approved must be seen whole. */
function detailLines({ kind, text }: DetailLine, look: { width: number; theme: Theme }): string[] {
  const { theme, width } = look
  const styles: Record<DetailLine["kind"], Style> = {
    ...{ same: theme.dim, added: theme.good, removed: theme.bad, plain: (line) => line },
  }
  const room = Math.max(1, width - INDENT.length)
  return wrapTextWithAnsi(SIGNS[kind] + safeText(text), room).map(
    (line) => INDENT + styles[kind](line),
  )
}

function toggle(set: Set<string>, value: string): void {
  if (!set.delete(value)) set.add(value)
}
