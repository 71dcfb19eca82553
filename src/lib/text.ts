/** Cutting, counting and cleaning text. Lengths are UTF-16 units; no cut ever splits a character. */

/** Removes what SQLite, JSON or a provider cannot carry: NUL and lone surrogates (as U+FFFD). */
export const cleanText = (text: string): string => text.replaceAll("\0", "").toWellFormed()

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** The longest prefix of at most `limit` units that ends on a code point. */
export function head(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = limit > 0 && isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit
  return text.slice(0, Math.max(0, end))
}

/** The longest suffix of at most `limit` units that starts on a code point. */
export function tail(text: string, limit: number): string {
  if (text.length <= limit) return text
  if (limit <= 0) return ""
  const start = text.length - limit
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start)
}

/**
 * Keeps head and tail, `limit` units together, and says between them how much is gone: `[middle cut: N chars
 * of M]`. That line comes on top of the limit.
 */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const start = head(text, Math.ceil(limit / 2))
  const end = tail(text, Math.floor(limit / 2))
  const gone = text.length - start.length - end.length
  return `${start}\n[middle cut: ${gone} chars of ${text.length}]\n${end}`
}

/** The first line, trimmed, cut at a word if it can be, with an ellipsis when cut. */
export function firstLine(text: string, limit: number): string {
  const line = text.trim().split("\n", 1)[0]!.trim()
  if (line.length <= limit) return line
  const cut = head(line, limit - 1)
  const space = cut.lastIndexOf(" ")
  return `${(space > limit / 2 ? cut.slice(0, space) : cut).trimEnd()}…`
}

/** The first sentence on one line, without its dot; cut like `firstLine`. */
export function firstSentence(text: string, limit: number): string {
  const [sentence = ""] = text.trim().split(/(?<=[.!?])\s|\n/, 1)
  return firstLine(sentence.replace(/\.$/, ""), limit)
}

/** The candidate nearest to `name` by edit distance, when near enough to be a slip of the finger. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    // No nearer than the difference in length: a long text is not even compared with short names.
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    // A word of which every letter was replaced is another word.
    const isOther = distance >= Math.max(name.length, candidate.length)
    if (distance >= bestDistance || isOther) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** Optimal string alignment distance: insert, delete, replace, swap of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let value = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, beforeLast[j - 2]! + 1)
      }
      row.push(value)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}

/** The longest prefix of whole characters that takes at most so many bytes in UTF-8. */
export function cutBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text)
  if (encoded.length <= bytes) return text
  return new TextDecoder().decode(encoded.subarray(0, Math.max(0, bytes)), { stream: true })
}
