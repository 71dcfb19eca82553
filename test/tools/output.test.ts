import { expect, test } from "bun:test"
import { OUTPUT_LIMITS, storable } from "../../src/tools/output.ts"

const plain = (text: string) => text
const LIMIT = OUTPUT_LIMITS.storedChars

test("text that can be stored stays as it is", () => {
  const text = "строка 😀\n\ttab\u001b[0m"
  expect(storable(text, plain)).toBe(text)
  expect(storable("x".repeat(LIMIT), plain)).toHaveLength(LIMIT)
})

test("NUL and half characters go, for neither database nor provider carries them", () => {
  expect(storable("a\0b\ud83dc", plain)).toBe("ab\ufffdc")
})

test("a long text keeps head and tail and says how much is missing", () => {
  const text = `first${"x".repeat(LIMIT)}last`
  const stored = storable(text, plain)
  expect(stored).toStartWith("firstx")
  expect(stored).toEndWith("xlast")
  expect(stored).toContain(`\n[middle cut: 9 chars of ${text.length}]\n`)
})

test("a huge text is cut before it is looked at, also amid emoji", () => {
  const text = `first${"😀".repeat(20_000_000)}last`
  let looked = 0
  const stored = storable(text, (part) => {
    looked += part.length
    return part
  })
  expect(looked).toBeLessThan(1.1 * LIMIT)
  expect(stored.length).toBeLessThan(LIMIT + 100)
  expect(stored).toStartWith("first😀")
  expect(stored).toEndWith("😀last")
  expect(stored.isWellFormed()).toBe(true)
})

test("a secret across the cut is not stored by halves", () => {
  const secret = `key-${"k".repeat(400)}`
  const half = LIMIT / 2
  const text = `${"a".repeat(half - 200)}${secret}${"b".repeat(3 * LIMIT)}${secret}${"c".repeat(half - 200)}`
  const stored = storable(text, (part) => part.replaceAll(secret, "[redacted]"))
  expect(stored).not.toContain("key-k")
  expect(stored).not.toContain("kkk")
})
