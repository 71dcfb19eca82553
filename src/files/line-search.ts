/**
 * Lines that match a pattern, in bytes that come in pieces. The patterns are RE2's, whose time is linear in the
 * text: one that a model wrote can be slow, and never without end.
 */
import { RE2JS, RE2JSException } from "re2js"
import { head, tail } from "../lib/text.ts"
import { mustHave } from "./encodings.ts"
import type { Found, Hit, SearchQuery } from "./scanner.ts"

export interface LineSearch {
  /** Matching lines in these further bytes; `last` says that no more come. */
  feed(bytes: Uint8Array, last: boolean): Found
}

export const SEARCH_LIMITS = {
  /** Characters that are matched together before single lines are looked at. */
  blockChars: 65_536,
  /** A longer line is matched in parts. */
  partChars: 262_144,
  /** So much of a part is seen again with the next one; a longer match between two of them is missed. */
  overlapChars: 16_384,
  /** Lines up to this length are shown whole. */
  wholeLineChars: 400,
  /** Of a longer one: characters around its first match, and of the match itself. */
  aroundChars: 200,
  matchChars: 200,
} as const

const BOM = /^\ufeff/

/** @throws Error for a pattern that is none */
export async function createLineSearch(query: SearchQuery): Promise<LineSearch> {
  const { fromLine, maxHits } = query
  const decoder = (await mustHave(query.encoding)).decoder()
  const pattern = compile(query)
  let carry = ""
  let isStart = true
  let line = query.startLine
  let hits = 0
  /** The carry begins within a line, with characters that were matched before. */
  let isWithin = false
  /** The line that hit while only a part of it was there. */
  let hitLine = 0

  const matchLine = (text: string, isEnd: boolean): Hit[] => {
    if (line < fromLine || line === hitLine || hits >= maxHits) return []
    const place = pattern.ofLine.test(text) && placeIn(pattern, text, { isWithin, isEnd })
    if (!place) return []
    hits++
    hitLine = line
    return [{ line, text: shown(text, { ...place, isWithin, isEnd }) }]
  }
  /** Halved where it matches, so that a hit costs a few looks and not one at each line around it. */
  const matchBlock = (block: string): Hit[] => {
    if (!pattern.ofBlock.test(block)) {
      line += block.split("\n").length
      isWithin = false
      return []
    }
    const middle = middleEnd(block)
    if (middle >= 0) {
      return [...matchBlock(block.slice(0, middle)), ...matchBlock(block.slice(middle + 1))]
    }
    const found = matchLine(block, true)
    line++
    isWithin = false
    return found
  }
  const matchPart = (part: string): Hit[] => {
    const found = matchLine(part, false)
    isWithin = true
    return found
  }

  return {
    feed: (bytes, last) => {
      const decoded = decoder.write(bytes, last)
      const text = (carry + (isStart ? decoded.replace(BOM, "") : decoded)).replaceAll("\r\n", "\n")
      isStart &&= decoded === ""
      const found: Hit[] = []
      let at = 0
      while (hits < maxHits) {
        const end = blockEnd(text, at)
        const isPart = end < 0 || end - at > SEARCH_LIMITS.partChars
        if (isPart && text.length - at <= SEARCH_LIMITS.partChars) break
        const to = isPart ? at + SEARCH_LIMITS.partChars : end
        found.push(...(isPart ? matchPart : matchBlock)(text.slice(at, to)))
        at = isPart ? to - SEARCH_LIMITS.overlapChars : to + 1
      }
      carry = text.slice(at)
      const isOpen = carry !== ""
      if (last && isOpen) found.push(...matchLine(carry, true))
      return { hits: found, line: isOpen ? line : line - 1 }
    },
  }
}

/** The last line end within a block's characters, or the next one; negative when there is none. */
function blockEnd(text: string, at: number): number {
  const limit = at + SEARCH_LIMITS.blockChars
  const within = text.lastIndexOf("\n", limit)
  return within >= at ? within : text.indexOf("\n", limit)
}

/** A line end near the middle; negative when there is none. */
function middleEnd(block: string): number {
  const behind = block.indexOf("\n", block.length / 2)
  return behind >= 0 ? behind : block.lastIndexOf("\n")
}

interface Compiled {
  ofLine: RE2JS
  /** Matches every text that holds a line which matches, and perhaps others. */
  ofBlock: RE2JS
  /** What follows a match decides whether it is one. */
  looksAhead: boolean
}

function compile({ pattern, flags }: SearchQuery): Compiled {
  const bare = flags.includes("x") ? withoutLayout(pattern) : pattern
  const lazy = flags.includes("U") ? `(?U)${bare}` : bare
  const ignoreCase = flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0
  try {
    const ofLine = RE2JS.compile(lazy, ignoreCase)
    // What is tied to the edges of the text cannot be asked of a block.
    const isTied = /\\[AzZ]/.test(bare)
    return {
      ofLine,
      ofBlock: isTied ? RE2JS.compile("") : RE2JS.compile(lazy, ignoreCase | RE2JS.MULTILINE),
      looksAhead: /\$|\\[bBzZ]/.test(bare),
    }
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const what = error.message.replaceAll("\n", ";").replaceAll(/\s+/g, " ").trim()
    throw new Error(
      `the pattern is not right: ${what}. Syntax is RE2's, without look-around and \\1.`,
    )
  }
}

/** Flag x: white space and comments of a pattern mean nothing, unless escaped or in a class. */
function withoutLayout(pattern: string): string {
  const parts = pattern.matchAll(
    /\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|#[^\n]*|\s+|[\s\S]/g,
  )
  return [...parts].map(([part]) => (/^(?:#|\s)/.test(part) ? "" : part)).join("")
}

interface Place {
  start: number
  end: number
}

interface PartOfLine {
  /** The line began before this text, whose first character only tells what stands before the next. */
  isWithin: boolean
  /** The line ends with this text. */
  isEnd: boolean
}

function placeIn(
  { ofLine, looksAhead }: Compiled,
  text: string,
  { isWithin, isEnd }: PartOfLine,
): Place | undefined {
  const matcher = ofLine.matcher(text)
  if (!matcher.find(isWithin ? 1 : 0)) return undefined
  const place = { start: matcher.start(), end: matcher.end() }
  // It is asked again with the next part.
  const isOpen = !isEnd && looksAhead && place.end === text.length
  return isOpen ? undefined : place
}

/** A long line as a window around the match. */
function shown(text: string, { start, end, isWithin, isEnd }: Place & PartOfLine): string {
  const { wholeLineChars, aroundChars, matchChars } = SEARCH_LIMITS
  if (text.length <= wholeLineChars && isEnd && !isWithin) return text
  const from = Math.max(0, start - aroundChars / 2)
  const to = Math.min(text.length, Math.min(end, start + matchChars) + aroundChars / 2)
  const before = from > 0 || isWithin ? "…" : ""
  const behind = to < text.length || !isEnd ? "…" : ""
  return `${before}${tail(head(text, to), to - from)}${behind}`
}
