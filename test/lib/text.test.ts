import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { cleanText, cutMiddle, firstLine, head, nearest, tail } from "../../src/lib/text.ts"

/** Latin, Cyrillic, CJK and what takes two units. */
const words = fc.string({ unit: fc.constantFrom("a", " ", "я", "漢", "🙂", "👩‍👩‍👧", "é", "\n") })
const anything = fc.string({ unit: "binary" })
const limits = fc.integer({ min: -2, max: 60 })

describe("cuts", () => {
  test("hold the limit, lose nothing else, and never split a character", () => {
    fc.assert(
      fc.property(words, limits, (text, limit) => {
        const [start, end] = [head(text, limit), tail(text, limit)]
        expect(text.startsWith(start)).toBe(true)
        expect(text.endsWith(end)).toBe(true)
        for (const cut of [start, end]) {
          expect(cut.isWellFormed()).toBe(true)
          expect(cut.length).toBeLessThanOrEqual(Math.max(0, limit))
          // Longer would have been too long: at most one character of two units did not fit.
          if (limit > 0) expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, limit - 1))
        }
      }),
    )
  })

  test("of Cyrillic, CJK and emoji", () => {
    expect(head("привет", 3)).toBe("при")
    expect(tail("привет", 3)).toBe("вет")
    expect(head("漢字仮名", 2)).toBe("漢字")
    expect([head("🙂🙂", 3), tail("🙂🙂", 3), head("🙂", 1), tail("🙂", 1)]).toEqual([
      ...["🙂", "🙂", "", ""],
    ])
  })

  test("in the middle keep both ends and count what is gone", () => {
    expect(cutMiddle("short", 5)).toBe("short")
    expect(cutMiddle("0123456789", 4)).toBe("01\n[middle cut: 6 chars of 10]\n89")
    expect(cutMiddle("0123456789", 3)).toBe("01\n[middle cut: 7 chars of 10]\n9")
    expect(cutMiddle("🙂🙂🙂🙂", 3)).toBe("🙂\n[middle cut: 6 chars of 8]\n")
    fc.assert(
      fc.property(words, fc.nat(40), (text, limit) => {
        const cut = cutMiddle(text, limit)
        expect(cut.isWellFormed()).toBe(true)
        if (text.length <= limit) return expect(cut).toBe(text)
        const [, start, gone, of, end] = /^(.*)\n\[middle cut: (\d+) chars of (\d+)\]\n(.*)$/s.exec(
          cut,
        )!
        expect(Number(of)).toBe(text.length)
        expect(start!.length + Number(gone) + end!.length).toBe(text.length)
        expect(start!.length + end!.length).toBeLessThanOrEqual(limit)
      }),
    )
  })
})

test("cleanText leaves nothing that storage or a provider refuses, and does not touch sound text", () => {
  fc.assert(
    fc.property(anything, (text) => {
      const clean = cleanText(text)
      expect(clean.isWellFormed()).toBe(true)
      expect(clean).not.toContain("\0")
      expect(cleanText(clean)).toBe(clean)
    }),
  )
  expect(cleanText("a\0b\ud83dc\ude42")).toBe("ab\ufffdc\ufffd")
  expect(cleanText("привет 🙂\r\n\t")).toBe("привет 🙂\r\n\t")
})

describe("firstLine", () => {
  test("is trimmed and cut at a word, or within one that is too long", () => {
    expect(firstLine("  hello \n world", 20)).toBe("hello")
    expect(firstLine("\n\n second thing\r\nthird", 20)).toBe("second thing")
    expect(firstLine("one two three four", 12)).toBe("one two…")
    expect(firstLine("Какая погода сегодня", 15)).toBe("Какая погода…")
    expect(firstLine("x".repeat(20), 10)).toBe(`${"x".repeat(9)}…`)
    expect(firstLine("漢".repeat(20), 5)).toBe("漢漢漢漢…")
    expect(firstLine("", 10)).toBe("")
  })

  test("holds its limit and is one whole line", () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 30 }), (text, limit) => {
        const line = firstLine(text, limit)
        expect(line.length).toBeLessThanOrEqual(limit)
        expect(line.isWellFormed()).toBe(true)
        expect(line).not.toContain("\n")
        expect(line).toBe(line.trim())
      }),
    )
  })
})

describe("nearest", () => {
  const keys = ["server", "listen", "model", "models", "max_tokens", "tools"]

  test("finds the slip of a finger: swapped, missing, doubled, wrong letters, another case", () => {
    const slips = ["sevrer", "lsten", "modell", "Tools", "max_tokans", "modles"]
    expect(slips.map((slip) => nearest(slip, keys))).toEqual([
      ...["server", "listen", "model", "tools", "max_tokens", "models"],
    ])
    expect(nearest("настроики", ["настройки", "памятки"])).toBe("настройки")
  })

  test("gives nothing for another word", () => {
    for (const word of ["banana", "x", "", "ab", "temperature"]) {
      expect(nearest(word, [...keys, "cd"])).toBeUndefined()
    }
    expect(nearest("server", [])).toBeUndefined()
  })

  test("does not compare a huge text letter by letter", () => {
    const start = performance.now()
    // Letter by letter this would take minutes.
    expect(nearest("x".repeat(200_000_000), keys)).toBeUndefined()
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})
