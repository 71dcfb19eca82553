/**
 * Lines that match a pattern, in bytes that come in pieces. The patterns are RE2's, whose time is linear in the
 * text: one that a model wrote can be slow, and never without end.
 */
import { RE2JS, RE2JSException } from "re2js"
import { head, tail } from "../lib/text.ts"
import { mustHave } from "./encodings.ts"
import type { Hit, SearchQuery } from "./scanner.ts"

export interface LineSearch {
  /** Matching lines in these further bytes; the last one may lack its line end. */
  feed(bytes: Uint8Array, last: boolean): Hit[]
}

export const SEARCH_LIMITS = {
  /** Characters that are matched together before single lines are looked at. */
  blockChars: 65_536,
  /** A longer line is matched in parts. */
  lineChars: 1_048_576,
  /** Lines up to this length are shown whole. */
  wholeLineChars: 400,
} as const

/** @throws Error for a pattern that is none */
export async function createLineSearch(query: SearchQuery): Promise<LineSearch> {
  const { fromLine, maxHits, windowChars } = query
  const decoder = (await mustHave(query.encoding)).decoder()
  const pattern = compile(query)
  let carry = ""
  let line = query.startLine
  let hits = 0
  /** The line that hit while only a part of it was there. */
  let hitLine = 0

  const matchLine = (text: string): Hit[] => {
    if (line < fromLine || line === hitLine || hits >= maxHits) return []
    const matched = pattern.ofLine.matcher(text)
    if (!pattern.ofLine.test(text) || !matched.find()) return []
    hits++
    hitLine = line
    return [
      { line, text: shown(text, { start: matched.start(), end: matched.end(), windowChars }) },
    ]
  }
  const matchBlock = (block: string): Hit[] => {
    const lines = block.split("\n")
    if (!pattern.ofBlock.test(block)) {
      line += lines.length
      return []
    }
    return lines.flatMap((text) => {
      const found = matchLine(text)
      line++
      return found
    })
  }

  return {
    feed: (bytes, last) => {
      const text = (carry + decoder.write(bytes, last)).replaceAll("\r\n", "\n")
      const found: Hit[] = []
      let at = 0
      for (let end = blockEnd(text, at); end >= 0 && hits < maxHits; end = blockEnd(text, at)) {
        found.push(...matchBlock(text.slice(at, end)))
        at = end + 1
      }
      carry = text.slice(at)
      if (last && carry !== "") found.push(...matchLine(carry))
      else if (carry.length > SEARCH_LIMITS.lineChars) {
        found.push(...matchLine(carry))
        carry = ""
      }
      return found
    },
  }
}

/** The line end behind at least a block's characters, or the last one there is. */
function blockEnd(text: string, at: number): number {
  const behind = text.indexOf("\n", at + SEARCH_LIMITS.blockChars)
  if (behind >= 0) return behind
  const last = text.lastIndexOf("\n")
  return last >= at ? last : -1
}

interface Compiled {
  ofLine: RE2JS
  /** Matches every text that holds a line which matches, and perhaps others. */
  ofBlock: RE2JS
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
      ofBlock: isTied ? ofAnything() : RE2JS.compile(lazy, ignoreCase | RE2JS.MULTILINE),
    }
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const what = error.message.replaceAll("\n", ";").replaceAll(/\s+/g, " ").trim()
    throw new Error(
      `the pattern is not right: ${what}. Syntax is RE2's, without look-around and \\1.`,
    )
  }
}

const ofAnything = (): RE2JS => RE2JS.compile("")

/** Flag x: white space and comments of a pattern mean nothing, unless escaped or in a class. */
function withoutLayout(pattern: string): string {
  const parts = pattern.matchAll(
    /\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|#[^\n]*|\s+|[\s\S]/g,
  )
  return [...parts].map(([part]) => (/^(?:#|\s)/.test(part) ? "" : part)).join("")
}

/** A long line as a window around the match. */
function shown(
  text: string,
  { start, end, windowChars }: { start: number; end: number; windowChars: number },
): string {
  if (text.length <= SEARCH_LIMITS.wholeLineChars) return text
  const room = Math.max(0, windowChars - (end - start))
  const from = Math.max(0, start - Math.floor(room / 2))
  const to = Math.min(text.length, from + windowChars)
  const before = from > 0 ? "…" : ""
  const behind = to < text.length ? "…" : ""
  return `${before}${tail(head(text, to), to - from)}${behind}`
}
