/** The limits of the views of a notebook, without a kernel around them. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { notebookText } from "../../src/context/fragments/notebook.ts"
import { checkDescription } from "../../src/notebook/check-note.ts"
import { modeFor, quotedPins } from "../../src/notebook/display.ts"
import { readDraft } from "../../src/notebook/draft.ts"
import { testConfig } from "../support/kernel.ts"

test("NOTE-49: whatever a model answers, what is read of it are notes within the limits, each name once", () => {
  const line = fc.oneof(
    fc
      .tuple(fc.string(), fc.string({ unit: "binary", maxLength: 200 }))
      .map(([name, about]) => `## ${name} | ${about}`),
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.constantFrom("## a | b", "## A! | c", "##", "", "## | x", "|", "## ёж | y"),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const { notes } = readDraft(lines.join("\n"), { ...settings, max_note_chars: 100 })
      expect(new Set(notes.map(({ name }) => name)).size).toBe(notes.length)
      for (const { name, description, body } of notes) {
        expect(name).toMatch(/^[a-z0-9_-]{1,48}$/)
        expect(checkDescription(description)).toBe(description)
        expect(body).not.toBe("")
        expect(body.length).toBeLessThanOrEqual(100)
      }
    }),
  )
})

const settings = testConfig("/nowhere").notes

test("NOTE-09 CFG-102: the way back to the whole view is at four fifths of either limit", () => {
  const mode = (chars: number, notes: number, before?: "inline" | "index") =>
    modeFor({ chars, notes }, before, settings)
  expect([mode(2500, 12), mode(2501, 1), mode(1, 13)]).toEqual(["inline", "index", "index"])
  expect([mode(2000, 10, "index"), mode(2001, 1, "index"), mode(1, 11, "index")]).toEqual([
    ...["inline" as const, "index" as const, "index" as const],
  ])
  expect(mode(2500, 12, "inline")).toBe("inline")
})

test("NOTE-18: each that fits is quoted, in the order of their birth", () => {
  const pins = [2400, 300, 90, 20].map((chars, at) => ({
    ...{ name: `n${at}`, description: "d", body: "x".repeat(chars), pinned: true },
  }))
  const limits = { ...settings, pinned_chars: 2500, pinned_max: 3 }
  const names = [...quotedPins(pins, limits)].map(({ name }) => name)
  expect(names).toEqual(["n0", "n2"])
  const few = [...quotedPins(pins, { ...limits, pinned_chars: 9000 })]
  expect(few.map(({ name }) => name)).toEqual(["n0", "n1", "n2"])
  const text = notebookText({ notes: pins, mode: "index", settings: limits, pressed: false })
  expect(text).toContain("\nn1 — d (pinned, and too long to stand here: chat_note_read)")
})
