/** The limits of the views of a notebook, without a kernel around them. */
import { expect, test } from "bun:test"
import { notebookText } from "../../src/context/fragments/notebook.ts"
import { modeFor, quotedPins } from "../../src/notebook/display.ts"
import { testConfig } from "../support/kernel.ts"

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
  const text = notebookText({ notes: pins, mode: "index", settings: limits, pressed: false })
  expect(text).toContain("\nn1 — d (pinned, and too long to stand here: chat_note_read)")
})
