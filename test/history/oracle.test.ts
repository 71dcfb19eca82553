/** The search against a naive one, over random texts and needles of many scripts. */
import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { fold } from "../../src/history/fold.ts"
import { mayBeText, mayBeWords } from "../../src/history/may-be-in.ts"
import { historyRig } from "./rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(120_000)

const ALPHABETS = [
  "abcABC xyz-_%\"'*()\\",
  "абвёЁЕеАБ йЙ и\u0306",
  "日本語 中文",
  "😀👍🏽 a",
  "ßẞſKµσςΣİıé e\u0301",
]
const word = fc
  .constantFrom(...ALPHABETS)
  .chain((letters) =>
    fc
      .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 })
      .map((all) => all.join("")),
  )
const said = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "))

/** Each character by itself, so that it shares nothing with how the search folds. */
const simple = (text: string): string =>
  Array.from(text.normalize("NFC"), (character) => {
    const upper = character.toUpperCase()
    const same = upper.length === character.length ? upper : character
    const lower = same.toLowerCase()
    const one = lower.length === same.length ? lower : same
    return one === "ς" ? "σ" : one === "ё" ? "е" : one
  }).join("")

test("folding keeps the length and agrees with folding letter by letter", () => {
  fc.assert(
    fc.property(fc.oneof(said, fc.string({ unit: "grapheme" })), (text) => {
      const whole = text.normalize("NFC")
      expect(fold(whole)).toBe(simple(whole))
      expect(fold(whole)).toHaveLength(whole.length)
    }),
    { numRuns: 500 },
  )
})

test("THIST-1: text and regular expressions find what a naive search finds", async () => {
  const rig = historyRig()
  try {
    const chats = [rig.newChat(), rig.newChat(), rig.newChat()]
    const texts = fc.sample(said, { numRuns: 300, seed: 7 })
    for (const [index, text] of texts.entries()) rig.say(chats[index % 3]!, text)
    const inText = fc.constantFrom(...texts).chain((text) => {
      const letters = Array.from(text)
      return fc
        .tuple(fc.nat(letters.length - 1), fc.integer({ min: 1, max: 6 }))
        .map(([from, length]) => letters.slice(from, from + length).join(""))
    })
    for (const needle of fc.sample(fc.oneof(word, inText), { numRuns: 150, seed: 8 })) {
      const wanted = simple(needle.trim())
      if (wanted === "") continue
      const naive = texts.filter((text) => simple(text).includes(wanted)).length
      const more = { limit: 1000 }
      const { hits } = await rig.search(needle, more)
      expect([needle, hits.length]).toEqual([needle, naive])
      const pattern = needle
        .trim()
        .normalize("NFC")
        .replace(/[$()*+./?[\\\]^{|}]/g, "\\$&")
      const test = new RegExp(pattern, "imu")
      const byRegex = texts.filter((text) => test.test(text.normalize("NFC"))).length
      const found = await rig.search(pattern, { ...more, match: "regex" })
      expect([pattern, found.hits.length]).toEqual([pattern, byRegex])
    }
  } finally {
    await rig.dispose()
  }
})

test("the quick look at stored JSON never loses what folding finds", () => {
  const lost: string[] = []
  for (let code = 0x20; code < 0x1_0000; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const text = `#${String.fromCharCode(code)}#`.normalize("NFC")
    const json = JSON.stringify([{ type: "text", text }])
    if (!mayBeText(fold(text))(json)) lost.push(code.toString(16))
  }
  expect(lost).toEqual([])
})

test("the quick look knows whole words beside what JSON writes with letters", () => {
  const isIn = (text: string) => mayBeWords(["word"])(JSON.stringify([{ type: "text", text }]))
  for (const text of ["word", "a\nword\tb", "\u0001word", "\\word", "(word)", "\\nword"]) {
    expect([text, isIn(text)]).toEqual([text, true])
  }
  for (const text of ["aword", "words", "7word", "wor d"]) {
    expect([text, isIn(text)]).toEqual([text, false])
  }
})
