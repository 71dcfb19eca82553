/** The lists of skills, tool sets and hidden tools in one budget. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type CatalogueBlock,
  type CatalogueRow,
  catalogueBudget,
  fitCatalogue,
} from "../../src/context/catalogue-budget.ts"

const row = (name: string, description: string, ...marks: string[]): CatalogueRow => ({
  ...{ name, description, marks },
})
const block = (header: string, ...rows: CatalogueRow[]): CatalogueBlock => ({ header, rows })
const size = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + text.length + 1, 0)
const words = (count: number): string => "word ".repeat(count).trim()

describe("the budget", () => {
  test("SKL-09 TSET-26 PRM-022: 2 % of the window at four characters a token, never above 16000, for all lists together", () => {
    expect(catalogueBudget(100_000)).toBe(8000)
    expect(catalogueBudget(200_000)).toBe(16_000)
    expect(catalogueBudget(1_000_000)).toBe(16_000)
    expect(catalogueBudget(8000)).toBe(640)
  })

  test("SKL-10 TSET-27 PRM-024: what fits goes as it is, byte for byte", () => {
    const blocks = [
      block("[skills]\nRead them.", row("tea", words(30)), row("ru", "Заваривать чай 🍵")),
      block("[tool sets]", row("ops", words(20), "[no iteration cap]")),
    ]
    const { texts, shortened, dropped } = fitCatalogue(blocks, 10_000)
    expect({ shortened, dropped }).toEqual({ shortened: 0, dropped: 0 })
    expect(texts).toEqual([
      `[skills]\nRead them.\n- tea: ${words(30)}\n- ru: Заваривать чай 🍵`,
      `[tool sets]\n- ops: ${words(20)} [no iteration cap]`,
    ])
    expect(fitCatalogue(blocks, size(texts)).texts).toEqual(texts)
  })
})

describe("where it is tight", () => {
  test("SKL-11 TSET-28 PRM-023: descriptions lose their ends in turn, the longest first, and names hold", () => {
    const blocks = [
      block("[skills]", row("a", words(40)), row("b", words(10)), row("c", words(40))),
    ]
    const { texts, shortened } = fitCatalogue(blocks, 200)
    const lines = texts[0]!.split("\n").slice(1)
    expect(lines.map((line) => line.slice(0, 3))).toEqual(["- a", "- b", "- c"])
    expect(lines[1]).toBe(`- b: ${words(10)}`)
    expect(lines[0]).toEndWith("…")
    expect(Math.abs(lines[0]!.length - lines[2]!.length)).toBeLessThanOrEqual(2)
    expect(shortened).toBe(2)
    expect(size(texts)).toBeLessThanOrEqual(200)
  })

  test("SKL-12 TSET-27: a short list gives its share to its neighbours", () => {
    const long = block("[hidden tools]", row("x", words(60)), row("y", words(60)))
    const alone = fitCatalogue([long], 300).texts[0]!
    const [short, beside] = fitCatalogue([block("[skills]", row("a", "b")), long], 320).texts
    expect(short).toBe("[skills]\n- a: b")
    expect(beside!.length).toBeGreaterThanOrEqual(alone.length - 10)
  })

  test("SKL-13 SKL-14 TSET-29 TSET-30 PRM-023: where even names are too many each list loses its last rows in turn, counts them, and none disappears", () => {
    const many = (header: string, name: string, count: number) =>
      block(
        header,
        ...Array.from({ length: count }, (_, at) => row(`${name}${at}`, "what it does")),
      )
    const blocks = [
      many("[skills]", "skill", 40),
      many("[tool sets]", "set", 3),
      many("[hidden]", "tool", 40),
    ]
    const { texts, dropped } = fitCatalogue(blocks, 300)
    expect(size(texts)).toBeLessThanOrEqual(300)
    expect(texts).toHaveLength(3)
    const counts = texts.map((text) => Number(/\(and (\d+) more\)$/.exec(text)?.[1] ?? 0))
    const shown = texts.map((text) => text.match(/^- /gm)!.length)
    expect(shown.every((rows) => rows >= 1)).toBe(true)
    expect(counts.map((count, at) => count + shown[at]!)).toEqual([40, 3, 40])
    expect(dropped).toBe(counts.reduce((sum, count) => sum + count, 0))
    for (const [index, text] of texts.entries()) {
      expect(text).toContain(`- ${blocks[index]!.rows[0]!.name}`)
    }
  })

  test("SKL-15 TSET-24 PRM-024: marks of a mode survive any cut", () => {
    const blocks = [
      block(
        "[tool sets]",
        ...["ops", "coding"].map((name) => row(name, words(50), "[no iteration cap]")),
      ),
    ]
    for (const budget of [60, 100, 200]) {
      const [text] = fitCatalogue(blocks, budget).texts
      const lines = text!.split("\n").filter((line) => line.startsWith("- "))
      expect(lines.length).toBeGreaterThan(0)
      for (const line of lines) expect(line).toEndWith(" [no iteration cap]")
    }
  })

  test("for any lists and any budget: within it wherever one row of each can be, no character split, nothing lost silently", () => {
    const rows = fc.array(
      fc.tuple(
        fc.string({ minLength: 1, maxLength: 12 }),
        fc.string({ unit: "grapheme", maxLength: 90 }),
      ),
      { minLength: 1, maxLength: 25 },
    )
    fc.assert(
      fc.property(
        fc.array(rows, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 3000 }),
        (lists, budget) => {
          const blocks = lists.map((list, at) =>
            block(`[list ${at}]`, ...list.map(([name, text]) => row(name, text.toWellFormed()))),
          )
          const { texts, dropped } = fitCatalogue(blocks, budget)
          expect(texts).toHaveLength(blocks.length)
          for (const text of texts) expect(text.isWellFormed()).toBe(true)
          const least = blocks.reduce(
            (sum, { header, rows: all }) => sum + header.length + all[0]!.name.length + 30,
            0,
          )
          if (budget >= least) expect(size(texts)).toBeLessThanOrEqual(budget)
          const all = blocks.reduce((sum, { rows: each }) => sum + each.length, 0)
          expect(dropped).toBeGreaterThanOrEqual(0)
          expect(dropped).toBeLessThan(all)
        },
      ),
    )
  })
})
