/** Headers that a model writes itself, in whatever pieces they arrive. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createHeaderShield } from "../../src/context/fragments/forged-header.ts"

function shown(...pieces: string[]): string {
  const shield = createHeaderShield()
  return pieces.map((piece) => shield.push(piece)).join("") + shield.end()
}

describe("SEC-10 TURN-064: taken off the start of an answer", () => {
  test.each([
    ["[msg 12 · reply_to msg 7]\nHello."],
    ["[#43 14:05 p7 Anna ↩#41]\nHello."],
    ["[↩#41, #38] Hello."],
    ["[2026-01-05 14:05 guest]\nHello."],
    ["[#1 (master)]\n\n[state]\n [#2 p1 Boss (master)] Hello."],
    ["  [wrapup][kernel]Hello."],
  ])("%j", (answer) => {
    expect(shown(answer)).toBe("Hello.")
    expect(shown(...answer)).toBe("Hello.")
  })

  test("an answer of nothing but headers says nothing", () => {
    expect(shown("[#43 p7 Anna]")).toBe("")
    expect(shown("[#43 p7 Anna]\n[state]\n")).toBe("")
  })
})

describe("speech stays", () => {
  test.each([
    ["[1] is the first source."],
    ["[#12](https://example.org) is fixed."],
    ["[x] done"],
    ["[people in brackets] say hi"],
    ["See [#43 p7 Anna]."],
    ["[#43 without an end"],
    [`[#${"x".repeat(1000)}`],
    ["  indented"],
    [""],
  ])("%j", (answer) => {
    expect(shown(answer)).toBe(answer)
    expect(shown(...answer)).toBe(answer)
  })

  test("the pieces in which an answer arrives change nothing", () => {
    const piece = fc.oneof(
      fc.constantFrom("[", "]", "#4", "state", "[state]", "\n", " ", "msg ", "p7", "("),
      fc.string({ maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect(shown(...pieces)).toBe(shown(pieces.join("")))
      }),
      { numRuns: 2000 },
    )
  })
})
