/**
 * Markdown that grows. The library parses a whole text for each change; an answer of a hundred pages would
 * then cost more with each word. So a long text is cut into parts, and what stands before the last cut is
 * parsed once. (A reference link finds its definition within its own part only.)
 */
import { Markdown, type MarkdownTheme, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import { type Cut, cutsOf, LINE_CHARS_MAX, marksOf } from "./markdown-cuts.ts"
import { safeText } from "./safe-text.ts"

/** Draws a text at a width. */
export type MarkdownText = (text: string, width: number) => string[]

type Draw = (width: number) => readonly string[]

const START: Cut = { start: 0, hasGap: false, fence: undefined }

/** A renderer that keeps what it parsed: ask the same one again as the text grows. */
export function createMarkdownText(theme: MarkdownTheme): MarkdownText {
  let cuts: Cut[] = []
  let parts: Draw[] = []
  let growing = new Markdown("", 0, 0, theme)
  let seen = ""
  return (text, width) => {
    if (!text.startsWith(seen)) [cuts, parts] = [[], []]
    const settled = cuts.slice(0, -1)
    const fresh = cutsOf(text, cuts.at(-1) ?? START)
    if (text !== seen)
      parts = [
        ...parts.slice(0, settled.length),
        ...fresh.map((cut, index) => {
          const next = fresh[index + 1]
          // The part that grew last keeps its parser, with what it knows of the blocks before.
          const view = index === 0 ? growing : new Markdown("", 0, 0, theme)
          if (next === undefined) growing = view
          return drawn(view, text.slice(cut.start, next?.start), { cut, next })
        }),
      ]
    cuts = [...settled, ...fresh]
    seen = text
    return parts.flatMap((draw, index) =>
      cuts[index]?.hasGap ? ["", ...draw(width)] : [...draw(width)],
    )
  }
}

function drawn(view: Markdown, raw: string, at: { cut: Cut; next: Cut | undefined }): Draw {
  const text = safeText(raw).trimEnd()
  if (text.length > LINE_CHARS_MAX && !text.trim().includes("\n"))
    return (width) => wrapTextWithAnsi(text.trim(), width)
  const opening = at.cut.fence
  const closing = at.next?.fence
  // Code that is cut gets the lines that are missing around it; they are not drawn.
  const head = opening === undefined ? "" : `${opening}\n`
  const foot = closing === undefined ? "" : `\n${marksOf(closing)}`
  const body = opening === undefined ? text.replace(/^(?:[ ]*\n)+/, "") : text
  view.setText(head + body + foot)
  const from = opening === undefined ? 0 : 1
  return (width) => {
    const lines = view.render(width)
    return lines.slice(from, closing === undefined ? undefined : -1)
  }
}
