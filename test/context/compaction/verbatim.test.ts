/** The master's own words beside a summary. */
import { expect, test } from "bun:test"
import { keepVerbatim } from "../../../src/context/compaction/verbatim.ts"
import type { Message } from "../../../src/schema/message.ts"
import { assistant, message, text } from "../stored.ts"

const said = (words: string, minute: number, changes: Partial<Message> = {}): Message =>
  message("user", [text(words)], {
    created_at: `2026-01-05T10:0${minute}:00.000Z`,
    ...changes,
  })
const textTokens = (words: string): number => Math.ceil(Buffer.byteLength(words) / 4)
const keep = (
  folded: readonly Message[],
  tokens: number,
  kept: { at: string; text: string }[] = [],
) => keepVerbatim(folded, kept, { tokens, textTokens })
const words = (lines: readonly { text: string }[]): string[] => lines.map((line) => line.text)

test("CTX-16 TURN-039: the newest come first; the first that does not fit is cut in its middle and ends the list", () => {
  const folded = [
    said("oldest", 1),
    said(`begin ${"x".repeat(400)} end`, 2),
    said("newer words", 3),
    said("newest words", 4),
  ]
  const lines = keep(folded, 60)
  expect(lines).toHaveLength(3)
  expect(words(lines).slice(1)).toEqual(["newer words", "newest words"])
  expect(lines[0]!.text).toStartWith("begin ")
  expect(lines[0]!.text).toEndWith(" end")
  expect(lines[0]!.text).toMatch(/\[middle cut: \d+ chars of 410\]/)
  expect(lines[1]!.at).toBe("2026-01-05T10:03:00.000Z")
})

test("all of it together stays within the budget, in every script, and no character is split", () => {
  for (const unit of ["word ", "слово ", "字字字", "🙂🙂"]) {
    for (const tokens of [0, 10, 100, 333]) {
      const folded = Array.from({ length: 5 }, (_, at) => said(unit.repeat(60), at))
      const lines = keep(folded, tokens)
      const weight = lines.reduce((sum, line) => sum + textTokens(line.text), 0)
      expect(weight).toBeLessThanOrEqual(tokens)
      expect(words(lines).join("").isWellFormed()).toBe(true)
    }
  }
})

test("only the master's speech counts: no guests, no answers, nothing of the machine's", () => {
  const folded = [
    said("a guest speaks", 1, { master: false, sender: "p7" }),
    said("[kernel] a note", 2),
    assistant(text("an answer")),
    said("the master speaks", 3),
  ]
  expect(words(keep(folded, 1000))).toEqual(["the master speaks"])
})

test("CTX-17 TURN-040: a part in which the master said nothing leaves what was kept as it was", () => {
  const kept = [{ at: "2026-01-04T10:00:00.000Z", text: "the task ".repeat(50) }]
  expect(keep([assistant(text("worked")), said("[kernel] a note", 1)], 5, kept)).toEqual(kept)
})

test("earlier words stay behind newer ones as long as there is room", () => {
  const kept = [{ at: "2026-01-04T10:00:00.000Z", text: "the task" }]
  expect(words(keep([said("go on", 1)], 100, kept))).toEqual(["the task", "go on"])
  expect(words(keep([said("go on and on", 1)], 4, kept))).toEqual(["go on and on"])
})
