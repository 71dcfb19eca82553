/**
 * One form for texts that people take for the same: composed characters, no case, and `ё` as `е`. Folding
 * keeps every position, so that what is found in folded text can be shown from the original.
 */
import { cleanText } from "../lib/text.ts"

/** Composed and storable. What is searched and shown is always in this form. */
export const composed = (text: string): string => cleanText(text).normalize("NFC")

/** Of composed text; as long as it was. */
export function fold(text: string): string {
  const upper = text.toUpperCase()
  const lower = upper.toLowerCase()
  // Case never shortens a text: with the same length, nothing has moved.
  const keptLength = upper.length === text.length && lower.length === text.length
  return (keptLength ? lower : Array.from(text, foldOne).join(""))
    .replaceAll("ς", "σ")
    .replaceAll("ё", "е")
}

/** What would become longer (`ß` is `SS`) stays as it is. */
function foldOne(character: string): string {
  const upper = character.toUpperCase()
  const from = upper.length === character.length ? upper : character
  const lower = from.toLowerCase()
  return lower.length === from.length ? lower : from
}

/** Groups of three neighbouring characters, each once; none for a text that is shorter. */
export function trigrams(text: string): string[] {
  const characters = [...text]
  const all = new Set<string>()
  for (let at = 0; at + 3 <= characters.length; at++) {
    all.add(characters.slice(at, at + 3).join(""))
  }
  return [...all]
}
