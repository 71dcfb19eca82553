/** One call and its result in a prompt: cut to size while fresh, in short when old. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type Form, shortInput, shownPair } from "../../src/context/elide.ts"
import type { Pair } from "../../src/context/exchange.ts"
import { call, RESULTS, result } from "./stored.ts"

const OLD: Form = { old: true }

const pair = (name: string, output: string, input: unknown = {}): Pair =>
  ({ call: call("a", name, input), result: result("a", output) }) as Pair
const shown = (name: string, output: string, form?: Form): string =>
  shownPair(pair(name, output), form, RESULTS)!.result.output

describe("a fresh result", () => {
  test("CTX-39 CTX-40 TURN-047: keeps its head and its tail and says how much is gone between", () => {
    const output = `begin${"x".repeat(5000)}3 tests failed`
    const cut = shown("shell", output)
    expect(cut).toStartWith("begin")
    expect(cut).toEndWith("3 tests failed")
    const note = `[middle cut: ${output.length - 2000} chars of ${output.length}]`
    expect(cut).toContain(note)
    expect(cut.length).toBe(2000 + note.length + 2)
    expect(shown("shell", "y".repeat(2000))).toBe("y".repeat(2000))
  })

  test("CTX-41 CTX-42: of a reader loses its tail, ends on a line and asks for a narrower window", () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `${index}\tline`)
    const cut = shown("read_log", lines.join("\n")).split("\n")
    const kept = cut.slice(0, -1)
    expect(kept).toEqual(lines.slice(0, kept.length))
    expect(kept.join("\n").length).toBeGreaterThan(7900)
    expect(cut.at(-1)).toMatch(/^\[tail cut: \d+ chars of \d+ — .*narrower window/)
  })

  test("a reader's one endless line is cut all the same", () => {
    expect(shown("read_log", "z".repeat(20_000))).toStartWith(
      `${"z".repeat(8000)}\n[tail cut: 12000`,
    )
  })

  test("CTX-44 TURN-048: of a full-text tool stays whole, and collapses like any other when it is old", () => {
    const text = "playbook ".repeat(3000)
    expect(shown("skill", text)).toBe(text)
    expect(shown("skill", text, OLD).length).toBeLessThanOrEqual(200)
  })
})

describe("an old pair", () => {
  test("CTX-47 TURN-049: a result is about 160 characters of its head and tail", () => {
    const stub = shown("shell", `begin${"x".repeat(5000)}3 tests failed`, OLD)
    expect(stub).toStartWith("begin")
    expect(stub).toContain("\n[elided: 4859 chars]\n")
    expect(stub).toEndWith("3 tests failed")
    expect(shown("shell", "short", OLD)).toBe("short")
  })

  test("of a reader only the line remains that says what was read", () => {
    const output = `[lines 1-84 of 84] server:/a.ts\n${"1\tsecret of yesterday\n".repeat(80)}`
    expect(shown("read_file", output, OLD)).toBe(
      `[lines 1-84 of 84] server:/a.ts\n[elided: ${output.length - 31} chars]`,
    )
  })

  test("CTX-48 TURN-050: long strings of the input go, however deep; path, flags and offsets stay", () => {
    const path = `/deep${"/folder".repeat(60)}/a.ts`
    const input = {
      path,
      offset: 5,
      force: true,
      content: "c".repeat(201),
      files: [{ path: "b.ts", content: "d".repeat(9000) }],
      note: "n".repeat(200),
    }
    expect(shortInput(input)).toEqual({
      path,
      offset: 5,
      force: true,
      content: "[elided: 201 chars]",
      files: [{ path: "b.ts", content: "[elided: 9000 chars]" }],
      note: "n".repeat(200),
    })
    const { call: old } = shownPair(pair("write_file", "ok", input), OLD, RESULTS)!
    expect(old.input).toEqual(shortInput(input))
  })

  test("the mark of a result that found nothing is never shown", () => {
    const uneventful = { ...pair("find", "no matches") }
    uneventful.result = { ...uneventful.result, uneventful: true }
    expect(shownPair(uneventful, undefined, RESULTS)!.result).toEqual(
      result("a", "no matches") as Pair["result"],
    )
  })
})

const anyText = fc
  .array(fc.constantFrom("word ", "слово ", "漢字", "👩‍👩‍👧 ", "\n", "é", "𝔘"), { maxLength: 4000 })
  .map((pieces) => pieces.join(""))
const anyName = fc.constantFrom("shell", "read_log", "skill")

test("TURN-049: no cut splits a character, whatever the script, and old is old however often", () => {
  fc.assert(
    fc.property(anyName, anyText, (name, output) => {
      for (const form of [undefined, OLD]) {
        const once = shown(name, output, form)
        expect(once.isWellFormed()).toBe(true)
        expect(once.length).toBeLessThanOrEqual(output.length + 100)
        expect(shown(name, output, form)).toBe(once)
      }
      const stub = shown(name, output, OLD)
      expect(stub.length).toBeLessThanOrEqual(200)
      expect(shown(name, stub, OLD)).toBe(stub)
    }),
    { numRuns: 200 },
  )
})
