/** Whole words are found by their borders, whatever borders them. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { fold, trigrams } from "../../src/history/fold.ts"
import { indexedText } from "../../src/history/indexed-text.ts"
import { needleOf } from "../../src/history/needle.ts"

test("a text is given as it is, and words that other signs border once more between spaces", () => {
  expect(indexedText("of: (the) oak of the hill")).toBe("of: (the) oak of the hill\n of the hill ")
  expect(indexedText("")).toBe("")
})

test("every text that a needle matches holds all groups that the index is asked for", () => {
  const words = fc.array(fc.constantFrom("со", "of", "дуб", "oak", "хлеб", "7", "émile"), {
    minLength: 1,
    maxLength: 6,
  })
  const signs = fc.constantFrom(" ", ", ", "\n", "—", "(", "\t")
  fc.assert(
    fc.property(words, fc.array(signs, { minLength: 7, maxLength: 7 }), (said, between) => {
      const text = said.map((word, at) => word + between[at]).join("")
      const held = new Set(trigrams(indexedText(fold(text))))
      for (const match of ["words", "text"] as const) {
        const query = match === "words" ? said.slice(0, 2).join(" ") : text.trim()
        if (query === "") continue
        const needle = needleOf(query, match)
        expect(needle.find(text, fold(text))).toBeDefined()
        for (const group of needle.groups) expect(held.has(group)).toBe(true)
      }
    }),
  )
})

test("a short word is looked for by its borders and not by every word that holds it", () => {
  expect(needleOf("со", "words").groups).toEqual([" со", "со "])
  expect(needleOf("со", "text").groups).toEqual([])
})
