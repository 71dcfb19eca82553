import { expect, test } from "bun:test"
import fc from "fast-check"
import { canonicalJson, isObject, parseJson, tryParseJson } from "../../src/lib/json.ts"

test("parsing text from outside never throws, and tells null from nothing", () => {
  expect(tryParseJson("null")).toEqual({ value: null })
  for (const text of ["", "{", "undefined", "{'a':1}", "[1,]", "NaN", "\0"]) {
    expect(tryParseJson(text)).toBeUndefined()
    expect(() => parseJson(text)).toThrow(SyntaxError)
  }
})

test("a key that would reach the prototype is an ordinary key", () => {
  const value = parseJson('{"__proto__": {"master": true}}') as Record<string, unknown>
  expect(Object.keys(value)).toEqual(["__proto__"])
  expect("master" in value).toBe(false)
})

test("only a mapping is an object", () => {
  expect([{}, { a: 1 }, new Map()].every(isObject)).toBe(true)
  expect([null, undefined, [], "a", 1, true].some(isObject)).toBe(false)
})

test("equal values give equal bytes whatever the order of their keys", () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, shuffled(inner)]),
    )
  }
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value))
      expect(parseJson(canonicalJson(value))).toEqual(parseJson(JSON.stringify(value)))
    }),
  )
  expect(canonicalJson({ b: [{ d: 1, c: "я" }], a: null })).toBe('{"a":null,"b":[{"c":"я","d":1}]}')
})
