/**
 * Where a long Markdown text can be cut so that its parts, drawn one below the other, look like the whole:
 * between blocks, between the lines of a long paragraph or list, and within a very long block of code.
 */

export interface Cut {
  start: number
  /** Whether the whole has a blank line there. */
  hasGap: boolean
  /** The line that opened the block of code which is cut here; the part before lacks its closing line. */
  fence: string | undefined
}

/** Texts are cut into parts of about this size: they are parsed in a moment. */
const PART_CHARS_MIN = 4000
/** Colours know nothing of the code before a cut, so code is cut less often. */
const CODE_CHARS_MIN = 12_000

/** A line that begins a block after a blank line: no list item, no indented code, no quote, no table. */
const BEGINS_BLOCK = /^(?:#{1,6} |(?!\d+[.)]\s|[*+-]\s)[\p{L}\p{N}"'(*_`])/u
/** A line within a paragraph or a tight list that may as well stand first. */
const MAY_STAND_FIRST = /^[\p{L}\p{N}"'(*_`+-]/u
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** A line this long is no prose, and the parser takes seconds for it: it stands alone, to be wrapped as it is. */
export const LINE_CHARS_MAX = 5000

/** The cuts from `first` on, which is one of them. */
export function cutsOf(text: string, first: Cut): Cut[] {
  const cuts = [first]
  let fence = first.fence
  let hasBlankBefore = false
  for (let at = first.start; at < text.length; ) {
    const newline = text.indexOf("\n", at)
    const line = text.slice(at, newline < 0 ? undefined : newline)
    // A line that still grows may become anything, unless it is too long for that.
    if (newline < 0 && line.length <= LINE_CHARS_MAX) break
    const size = at - (cuts.at(-1)?.start ?? 0)
    const cut = size > 0 && cutBefore(line, { start: at, size, fence, hasBlankBefore })
    if (cut) cuts.push(cut)
    fence = fenceAfter(line, fence)
    hasBlankBefore = line.trim() === ""
    at += line.length + 1
  }
  return cuts
}

function cutBefore(
  line: string,
  place: { start: number; size: number; fence: string | undefined; hasBlankBefore: boolean },
): Cut | undefined {
  const { start, size, fence, hasBlankBefore } = place
  if (fence !== undefined)
    return size >= CODE_CHARS_MIN && !FENCE.test(line) ? { start, hasGap: false, fence } : undefined
  const cut = { start, hasGap: hasBlankBefore, fence: undefined }
  if (line.length > LINE_CHARS_MAX) return cut
  if (size < PART_CHARS_MIN || FENCE.test(line)) return undefined
  const mayStandFirst = hasBlankBefore ? BEGINS_BLOCK : MAY_STAND_FIRST
  return mayStandFirst.test(line) ? cut : undefined
}

/** The opening line of the block of code that is open behind this line. */
function fenceAfter(line: string, fence: string | undefined): string | undefined {
  const mark = FENCE.exec(line)?.[1]
  if (mark === undefined) return fence
  if (fence === undefined) return line
  return closes(line, mark, fence) ? undefined : fence
}

/** A closing line has the same marks, at least as many, and nothing else. */
const closes = (line: string, mark: string, fence: string): boolean =>
  mark.startsWith(marksOf(fence)) && line.trim() === mark

/** The marks of a line that opens a block of code. */
export const marksOf = (fence: string): string => FENCE.exec(fence)?.[1] ?? ""
