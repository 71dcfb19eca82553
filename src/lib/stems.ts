/**
 * Text as the stems of its words, Russian and English: what a lexical search compares. Stored stems depend on
 * all that is here; whoever changes it rebuilds what was stored.
 */
import { stemmer as stemEnglish } from "@orama/stemmers/english"
import { stemmer as stemRussian } from "@orama/stemmers/russian"
import { STOP_WORDS } from "./stop-words.ts"

/** Single signs say nothing. */
const TOKEN_MIN_CHARS = 2
/** What shares so many first letters is probably of one family, where stemming cut two forms differently. */
const ROOT_CHARS = 5

/** Letters with their marks, and digits, in lower case and with `ё` as `е`; single ones are dropped. */
export function words(text: string): string[] {
  const folded = text.normalize("NFC").toLowerCase().replaceAll("ё", "е")
  return (folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).filter(
    (word) => word.length >= TOKEN_MIN_CHARS,
  )
}

/** By the letters of the word: Snowball's stemmer for Russian, Porter's for English, others stay. */
export function stem(word: string): string {
  if (/^[a-z]+$/.test(word)) return stemEnglish(word)
  if (/^[а-я]+$/.test(word)) return stemRussian(word)
  return word
}

/** The stems of all words, in their order. */
export const stems = (text: string): string[] => words(text).map(stem)

/** The first letters of a stem; numbers stay whole. */
export const root = (stemmed: string): string =>
  /\d/.test(stemmed) ? stemmed : [...stemmed].slice(0, ROOT_CHARS).join("")

/** The stems to look for, each once: words that carry meaning, or all when there are no others. */
export function queryStems(text: string): string[] {
  const all = words(text)
  const telling = all.filter((word) => !STOP_WORDS.has(word))
  return [...new Set((telling.length > 0 ? telling : all).map(stem))]
}

/** Share of common stems among all stems of both, 0…1; 0 when one has none. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0
  let common = 0
  for (const each of a) if (b.has(each)) common++
  return common / (a.size + b.size - common)
}
