/**
 * Finds the one place where a quoted text stands in another, and replaces it. Line ends are compared as one, and
 * what the new text has in common with the quotation keeps the bytes of the file.
 */
import { plainSigns } from "./patch/seek.ts"

export interface Replacement {
  old: string
  new: string
}

export interface Replaced {
  text: string
  /** First line that changed, from 1, and how many lines stand there now. */
  line: number
  lines: number
  /** It was found with typography (quotation marks, dashes, spaces) written plainly. */
  plainly: boolean
}

/** Lines, from 1, where the quotation stands: none, or too many. */
export interface Misses {
  at: number[]
}

const MISSES_MAX = 20

/** @param eol of new lines, where the file has line ends of both kinds or `old` is quoted with others */
export function replaceText(
  text: string,
  replacement: Replacement,
  eol: "\n" | "\r\n",
): Replaced | Misses {
  const flat = withPlainEnds(text)
  const isMixed = flat.length !== text.length || replacement.old.includes("\r\n")
  const old = withPlainEnds(replacement.old)
  const next = isMixed ? withPlainEnds(replacement.new) : replacement.new
  const exactly = placesOf(old, flat)
  const places = exactly.length > 0 ? exactly : placesOf(plainSigns(old), plainSigns(flat))
  if (places.length !== 1) return { at: places.map((place) => lineAt(flat, place)) }

  const [start, end] = changedPart(old, next)
  const from = places[0]! + start
  const to = places[0]! + old.length - end
  const added = next.slice(start, next.length - end)
  const ends = lineEndsIn(text)
  const here = isMixed && eol === "\r\n" ? added.replaceAll("\n", "\r\n") : added
  return {
    text: text.slice(0, placeIn(ends, from)) + here + text.slice(placeIn(ends, to)),
    line: lineAt(flat, from),
    lines: added.split("\n").length,
    plainly: exactly.length === 0,
  }
}

const withPlainEnds = (text: string): string => text.replaceAll("\r\n", "\n")

/** Places that do not overlap. */
function placesOf(sought: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
    if (places.push(at) > MISSES_MAX) break
  }
  return places
}

/** How much both begin and end with. */
function changedPart(old: string, next: string): [start: number, end: number] {
  const most = Math.min(old.length, next.length)
  let start = 0
  while (start < most && old[start] === next[start]) start++
  let end = 0
  while (end < most - start && old.at(-1 - end) === next.at(-1 - end)) end++
  return [start, end]
}

/** Where pairs of carriage return and line feed stand, as places in the text with plain ends. */
function lineEndsIn(text: string): number[] {
  const ends: number[] = []
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) {
    ends.push(at - ends.length)
  }
  return ends
}

/** A place in the text with plain ends, in the text as it is. */
function placeIn(ends: readonly number[], place: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! < place) low = middle + 1
    else high = middle
  }
  return place + low
}

function lineAt(text: string, place: number): number {
  let line = 1
  for (let at = text.indexOf("\n"); at >= 0 && at < place; at = text.indexOf("\n", at + 1)) line++
  return line
}
