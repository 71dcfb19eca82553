/**
 * One item as lines of the terminal. A view belongs to one item and is asked again as the item grows, so
 * that what was parsed is kept.
 */
import { type MarkdownTheme, truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import { planLines } from "../../../plan/plan-text.ts"
import type { Item } from "../../../schema/item.ts"
import { createMarkdownText, type MarkdownText } from "./markdown-text.ts"
import { safeLine, safeText } from "./safe-text.ts"
import type { Style, Theme } from "./theme.ts"
import { type ToolItem, toolInput, toolOutcome, toolOutput, toolSummary } from "./tool-words.ts"

/** How an item is to be shown. */
export interface ItemLook {
  width: number
  /** Whether a foldable item shows its inside. */
  open: boolean
  /** Whether it waits for its turn, or for the kernel to confirm it. */
  waiting: "no" | "queued" | "unsent"
  /** Whether the reading cursor stands on it. */
  selected: boolean
}

export type ItemView = (item: Item, look: ItemLook) => string[]

type ItemOf<K extends Item["kind"]> = Extract<Item, { kind: K }>

/** A person's text longer than this is shown folded. */
const USER_LINES_MAX = 20
/** Of a tool's output at most so many lines are drawn, the last ones. */
const OUTPUT_LINES_MAX = 500
const INDENT = "  "

/** Whether an item has an inside that a key or a click unfolds. */
export function isFoldable(item: Item): boolean {
  switch (item.kind) {
    case "thinking":
    case "tool_call":
    case "machine_note":
      return true
    case "user_message":
      return item.text.split("\n", USER_LINES_MAX + 1).length > USER_LINES_MAX
    default:
      return false
  }
}

/** Whether it is one line when folded, so that several stand together without a gap. */
export const isOneLine = (item: Item): boolean =>
  item.kind === "thinking" || item.kind === "tool_call" || item.kind === "machine_note"

export function createItemView(theme: Theme, markdown: MarkdownTheme): ItemView {
  const answer = createMarkdownText(markdown)
  return (item, look) => {
    switch (item.kind) {
      case "user_message":
        return userLines(item, look, theme)
      case "agent_message":
        return answer(item.text, look.width)
      case "thinking":
        return thinkingLines(item, look, { theme, answer })
      case "tool_call":
        return toolLines(item, look, theme)
      case "client_op":
        return []
      case "image":
        return wrap(`${theme.accent("image")} ${safeLine(item.url)} ${item.media_type}`, look.width)
      case "compaction":
        return [theme.dim(centred("older messages are folded into a summary", look.width))]
      case "plan":
        return planView(item, look, theme)
      case "machine_note":
        return noteLines(item, look, theme)
    }
  }
}

const BAR = "▌ "

function userLines(item: ItemOf<"user_message">, look: ItemLook, theme: Theme): string[] {
  const bar = (look.waiting === "no" ? theme.user : theme.dim)(BAR)
  const room = Math.max(1, look.width - BAR.length)
  const all = safeText(item.text).split("\n")
  const shown = look.open ? all : all.slice(0, USER_LINES_MAX)
  const hidden = all.length - shown.length
  const name = item.master || item.sender === undefined ? [] : [theme.bold(safeLine(item.sender))]
  const lines = [
    ...name,
    ...shown.flatMap((line) => wrap(line, room)),
    ...(hidden > 0 ? [theme.dim(`▸ ${hidden} more lines`)] : []),
    ...(item.images ?? []).map((id) => theme.dim(`image ${safeLine(id)}`)),
    ...(look.waiting === "no" ? [] : [theme.dim(look.waiting === "queued" ? "queued" : "sending")]),
  ]
  return lines.map((line) => bar + mark(line, look, theme))
}

function thinkingLines(
  item: ItemOf<"thinking">,
  look: ItemLook,
  tools: { theme: Theme; answer: MarkdownText },
): string[] {
  const { theme, answer } = tools
  const isRunning = item.status === "running"
  if (look.open)
    return [
      mark(theme.dim(`▾ ${isRunning ? "thinking" : "thought"}`), look, theme),
      ...indented(answer(item.text, look.width - INDENT.length), dimAll(theme)),
    ]
  const count = item.text.trim().split("\n").length
  const hint = isRunning
    ? safeLine(item.text.trimEnd().split("\n").at(-1) ?? "")
    : `${count} ${count === 1 ? "line" : "lines"}`
  return [oneLine(theme.dim(`▸ ${isRunning ? "thinking" : "thought"} · ${hint}`), look, theme)]
}

function toolLines(item: ToolItem, look: ItemLook, theme: Theme): string[] {
  const [sign, paint] = toolSign(item, theme)
  const summary = toolSummary(item.input)
  const outcome = toolOutcome(item)
  const head = `${paint(sign)} ${theme.bold(safeLine(item.name))}${summary && ` ${summary}`}`
  const end = outcome && theme.dim(` · ${outcome}`)
  if (!look.open) return [oneLine(head + end, look, theme)]
  const room = Math.max(1, look.width - INDENT.length)
  const output = toolOutput(item).split("\n")
  const hidden = output.length - OUTPUT_LINES_MAX
  return [
    oneLine(head, look, theme),
    ...indented(wrap(toolInput(item.input), room), theme.dim),
    ...indented(hidden > 0 ? [`… ${hidden} earlier lines`] : [], theme.dim),
    ...indented(output.slice(-OUTPUT_LINES_MAX).flatMap((line) => wrap(line, room))),
  ]
}

function toolSign(item: ToolItem, theme: Theme): [string, Style] {
  switch (item.status) {
    case "running":
      return ["◌", theme.warn]
    case "completed":
      return ["✓", theme.good]
    case "failed":
      return ["✗", theme.bad]
    case "aborted":
      return ["⊘", theme.dim]
  }
}

/** What is closed stands back behind what is left. */
function planView({ tasks }: ItemOf<"plan">, look: ItemLook, theme: Theme): string[] {
  return planLines(tasks).flatMap((line) => {
    const paint = line.startsWith("## ")
      ? theme.bold
      : /^\d+ \[[x~]\]/.test(line)
        ? theme.dim
        : (text: string) => text
    return wrap(safeLine(line.replace(/^## /, "")), look.width).map(paint)
  })
}

function noteLines(item: ItemOf<"machine_note">, look: ItemLook, theme: Theme): string[] {
  const name = safeLine(item.note).replaceAll("_", " ")
  if (!look.open) return [oneLine(theme.dim(`▸ ${name} · ${safeLine(item.text)}`), look, theme)]
  const inside = wrap(safeText(item.text), look.width - INDENT.length)
  return [mark(theme.dim(`▾ ${name}`), look, theme), ...indented(inside, theme.dim)]
}

/** Bold ends with the same code as dim, so after each bold word the dim must begin again. */
const dimAll =
  (theme: Theme): Style =>
  (line) =>
    theme.dim(line.replaceAll("\x1b[22m", "\x1b[22;2m"))

const mark = (line: string, look: ItemLook, theme: Theme): string =>
  look.selected ? theme.inverse(line) : line

const oneLine = (line: string, look: ItemLook, theme: Theme): string =>
  mark(truncateToWidth(line, look.width, "…"), look, theme)

const indented = (lines: readonly string[], style: Style = (text) => text): string[] =>
  lines.map((line) => INDENT + style(line))

const wrap = (text: string, width: number): string[] => wrapTextWithAnsi(text, Math.max(1, width))

function centred(text: string, width: number): string {
  const side = "─".repeat(Math.max(0, Math.floor((width - text.length - 2) / 2)))
  return truncateToWidth(side === "" ? text : `${side} ${text} ${side}`, width, "…")
}
