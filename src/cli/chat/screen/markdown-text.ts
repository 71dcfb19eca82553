/**
 * Markdown that grows. The library parses a whole text for each change; an answer of a hundred pages would
 * then cost more with each word. So a long text is cut at blank lines between blocks, and what stands before
 * the last cut is parsed once. (A reference link finds its definition within its own part only.)
 */
import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui"
import { safeText } from "./safe-text.ts"

const PART_CHARS_MIN = 4000

interface Part {
  start: number
  view: Markdown
}

export type MarkdownText = (text: string, width: number) => string[]

/** A renderer that keeps what it parsed: ask the same one again as the text grows. */
export function createMarkdownText(theme: MarkdownTheme): MarkdownText {
  let parts: Part[] = []
  let seen = ""
  return (text, width) => {
    if (!text.startsWith(seen)) parts = []
    const from = parts.at(-1)?.start ?? 0
    const starts = [...parts.slice(0, -1).map(({ start }) => start), ...partStarts(text, from)]
    parts = starts.map((start, index) => {
      const body = safeText(text.slice(start, starts[index + 1])).trim()
      const known = parts[index]
      if (known && index < parts.length - 1) return known
      if (!known) return { start, view: new Markdown(body, 0, 0, theme) }
      known.view.setText(body)
      return known
    })
    seen = text
    return joinParts(parts.map(({ view }) => view.render(width)))
  }
}

const joinParts = (parts: readonly (readonly string[])[]): string[] =>
  parts.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]))

/** A line that certainly begins a new block: no list item, no indented code, no quote, no table. */
const BEGINS_BLOCK = /^(?:#{1,6} |(?!\d+[.)]\s|[*+-]\s)[\p{L}\p{N}"'(*_`])/u
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** Where the parts of a text begin, counted from `from`, which is the start of the first. */
function partStarts(text: string, from: number): number[] {
  const starts = [from]
  let fence: string | undefined
  let blankBefore = false
  for (let at = from; at < text.length; ) {
    const newline = text.indexOf("\n", at)
    const end = newline < 0 ? text.length : newline
    const line = text.slice(at, end)
    const mark = FENCE.exec(line)?.[1]
    const isLong = at - (starts.at(-1) ?? 0) >= PART_CHARS_MIN
    const isWhole = newline >= 0
    if (isWhole && isLong && blankBefore && !fence && !mark && BEGINS_BLOCK.test(line))
      starts.push(at)
    if (mark && !fence) fence = mark
    else if (mark && fence && mark.startsWith(fence)) fence = undefined
    blankBefore = line.trim() === ""
    at = end + 1
  }
  return starts
}
