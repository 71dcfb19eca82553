/** Why a quoted text does not name one place of a file, with what helps to quote it right. */

import { head, nearest } from "../lib/text.ts"
import { ToolFailure } from "../tools/tool.ts"
import { closest, soughtLines } from "./patch/seek.ts"
import type { Misses } from "./replace-text.ts"

/** Lines that are quoted from the file. */
const QUOTED_LINES = 8
const LINE_CHARS = 300
/** Lines of a file that are compared letter by letter. */
const COMPARED_LINES = 5000
const PLACES_TOLD = 20

export function misfit(
  where: string,
  text: string,
  { old, at }: Misses & { old: string },
): ToolFailure {
  if (at.length > 1) {
    const many = at.length > PLACES_TOLD ? `more than ${PLACES_TOLD} times` : `${at.length} times`
    const lines = at.slice(0, PLACES_TOLD).join(", ")
    return new ToolFailure(
      `${where}: old_text stands there ${many}, in lines ${lines}; quote more of what is around the one you mean`,
    )
  }
  return new ToolFailure(`${where}: old_text does not stand there. ${nearestPlace(text, old)}`)
}

function nearestPlace(text: string, old: string): string {
  const lines = linesOf(text)
  const quoted = linesOf(old)
  const place = placeOf(lines, quoted)
  if (place === undefined) return "Nothing in the file resembles it; read the file again."
  const shown = lines
    .slice(place, place + Math.min(quoted.length, QUOTED_LINES))
    .map((line, index) => `${place + index + 1}\t${head(line, LINE_CHARS)}`)
  const difference = quoted.findIndex((line, index) => line !== lines[place + index])
  const [ours, theirs] = [quoted[difference], lines[place + difference]]
  const told =
    difference < 0
      ? ""
      : `\nThe first difference, with white space made visible: old_text has ${visible(ours)}, the file ${visible(theirs)}.`
  return `The nearest place:\n${shown.join("\n")}${told}`
}

/** Index of the line where the quotation would begin. */
function placeOf(lines: readonly string[], quoted: readonly string[]): number | undefined {
  const same = closest(soughtLines(lines), quoted)
  if (same) return same.at
  const index = quoted.findIndex((line) => line.trim() !== "")
  const first = quoted[index]?.trim()
  if (first === undefined || first.length > LINE_CHARS) return undefined
  const within = lines.slice(0, COMPARED_LINES).map((line) => line.trim())
  const near = nearest(first, within)
  return near === undefined ? undefined : Math.max(0, within.indexOf(near) - index)
}

const linesOf = (text: string): string[] => text.replace(/\r?\n$/, "").split(/\r?\n/)

/** `"\tname"`: tabs and odd characters as JSON writes them. */
const visible = (line: string | undefined): string =>
  line === undefined
    ? "nothing more"
    : JSON.stringify(head(line, LINE_CHARS)).replaceAll("\u00a0", "\\u00a0")
