/** Words, stems and what is common to two texts. */
import { describe, expect, test } from "bun:test"
import { jaccard, queryStems, root, stems, words } from "../../src/lib/stems.ts"

describe("stems", () => {
  test("forms of one Russian word meet, with ё and without", () => {
    expect(stems("Кошками кошке КОШКА")).toEqual(["кошк", "кошк", "кошк"])
    expect(stems("учёный")).toEqual(stems("ученый"))
  })

  test("forms of one English word meet", () => {
    expect(new Set(stems("adopted adopting adopts"))).toEqual(new Set(["adopt"]))
  })

  test("single signs are dropped, numbers and other scripts stay", () => {
    expect(words("a 1:56 pm, 2023 — Zoë 日本")).toEqual(["56", "pm", "2023", "zoë", "日本"])
  })

  test("a composed and a decomposed letter are the same", () => {
    expect(words("e\u0301tude")).toEqual(words("\u00e9tude"))
    expect(words("и\u0306од")).toEqual(words("йод"))
  })

  test("a question is looked for by its telling words, or by all when it has no other", () => {
    expect(queryStems("What did Anna adopt, and when did she adopt?")).toEqual(["anna", "adopt"])
    expect(queryStems("Что это было у Анны?")).toEqual(["ан"])
    expect(queryStems("to be or not to be")).toEqual(["to", "be", "or", "not"])
  })

  test("roots bring together what stemming cut differently", () => {
    expect(root("иммунодефиц")).toBe(root("иммунодефицит"))
    expect(root("2023")).toBe("2023")
  })

  test("likeness is the share of common stems", () => {
    expect(jaccard(new Set(["a", "b", "c"]), new Set(["b", "c", "d"]))).toBe(0.5)
    expect(jaccard(new Set(), new Set())).toBe(0)
  })
})
