/** What is searched for: as a test of one text, and as what the index can say about it beforehand. */
import { KernelError } from "../lib/error.ts"
import type { HistoryMatch } from "../schema/history-search.ts"
import { composed, fold, trigrams } from "./fold.ts"
import { type MayBeIn, mayBeText, mayBeWords } from "./may-be-in.ts"
import { literalsOf } from "./regex-literals.ts"

export interface Span {
  start: number
  end: number
}

export interface Needle {
  /** Every text that matches holds all of these groups; none when the index cannot help. */
  groups: string[]
  /** False when a message with these blocks, as stored, cannot match: told without reading them. */
  mayBeIn: MayBeIn
  /** The first match in composed text; `folded` is the same text folded. */
  find(text: string, folded: string): Span | undefined
}

/** So many groups are asked for: further ones cost more than they sort out. */
const GROUPS_MAX = 16

/** Throws KernelError("invalid"): nothing to search for, or no regular expression. */
export function needleOf(query: string, match: HistoryMatch): Needle {
  const text = composed(query).trim()
  if (text === "") throw invalid("the query is empty: give some text to search for")
  switch (match) {
    case "text":
      return textNeedle(fold(text))
    case "words":
      return wordsNeedle(fold(text))
    case "regex":
      return regexNeedle(text)
  }
}

const invalid = (why: string): KernelError => new KernelError("invalid", why, { path: "query" })

export const endless = (): KernelError =>
  invalid(
    "the search did not come to its end: the regular expression tries too many ways; write it without repetitions inside repetitions",
  )

function textNeedle(needle: string): Needle {
  return {
    groups: some(trigrams(needle)),
    mayBeIn: mayBeText(needle),
    find: (_text, folded) => {
      const start = folded.indexOf(needle)
      return start < 0 ? undefined : { start, end: start + needle.length }
    },
  }
}

/** All of the words, whole, in any order; the first one that was named is shown. */
function wordsNeedle(folded: string): Needle {
  const words = [...new Set(folded.split(/\s+/u))]
  const tests = words.map(wholeWord)
  return {
    groups: some([...new Set(words.flatMap(groupsOfWord))]),
    mayBeIn: mayBeWords(words.filter(isWord)),
    find: (_text, text) => {
      const spans = tests.map((test) => spanOf(test, text))
      return spans.every((span) => span !== undefined) ? spans[0] : undefined
    },
  }
}

/** With its borders, which the index holds of every word; of other text only what is in it. */
const groupsOfWord = (word: string): string[] => trigrams(isWord(word) ? ` ${word} ` : word)

/** Letters and digits from end to end: only then both of its borders count. */
const isWord = (word: string): boolean => /^[\p{L}\p{N}\p{M}]+$/u.test(word)

/** Letters, digits and marks make words; beside other characters no border is asked for. */
function wholeWord(word: string): RegExp {
  const escaped = word.replace(/[$()*+./?[\\\]^{|}-]/g, "\\$&")
  const before = /^[\p{L}\p{N}\p{M}]/u.test(word) ? "(?<![\\p{L}\\p{N}\\p{M}])" : ""
  const behind = /[\p{L}\p{N}\p{M}]$/u.test(word) ? "(?![\\p{L}\\p{N}\\p{M}])" : ""
  return new RegExp(`${before}${escaped}${behind}`, "u")
}

function regexNeedle(pattern: string): Needle {
  const test = compiled(pattern)
  return {
    mayBeIn: () => true,
    groups: some([...new Set(literalsOf(pattern).map(fold).flatMap(trigrams))]),
    find: (text) => spanOf(test, text),
  }
}

function compiled(pattern: string): RegExp {
  let test: RegExp
  try {
    test = new RegExp(pattern, "imu")
  } catch (error) {
    throw invalid(`this is no regular expression of JavaScript: ${(error as Error).message}`)
  }
  if (test.test("")) {
    throw invalid("this regular expression matches the empty text and so everything: narrow it")
  }
  return test
}

function spanOf(test: RegExp, text: string): Span | undefined {
  const found = test.exec(text)
  // A match of no length shows nothing.
  if (!found || found[0] === "") return undefined
  return { start: found.index, end: found.index + found[0].length }
}

/** Spread over the whole of it, the last one included. */
function some(groups: readonly string[]): string[] {
  if (groups.length <= GROUPS_MAX) return [...groups]
  const last = groups.length - 1
  return Array.from(
    { length: GROUPS_MAX },
    (_, index) => groups[Math.round((index * last) / (GROUPS_MAX - 1))]!,
  )
}
