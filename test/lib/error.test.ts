import { expect, test } from "bun:test"
import { assert, errorText, KernelError, notFound, unreachable } from "../../src/lib/error.ts"

test("an expected failure carries its code, its sentence, its field and its cause", () => {
  const cause = new Error("inner")
  const error = new KernelError("invalid", "no such model", { path: "model", cause })
  expect(error).toBeInstanceOf(Error)
  expect({ ...error, message: error.message, cause: error.cause }).toEqual({
    ...{ name: "KernelError", code: "invalid", path: "model", message: "no such model", cause },
  })
  expect(notFound("chat", "c1")).toMatchObject({
    ...{ code: "not_found", message: "no chat with id c1", path: undefined },
  })
})

test("the text of whatever was thrown goes down to the innermost cause", () => {
  const inner = new Error("ECONNRESET")
  const outer = new Error("fetch failed", { cause: new Error("socket closed", { cause: inner }) })
  expect(errorText(outer)).toBe("fetch failed: socket closed: ECONNRESET")
  expect(errorText(new Error("same", { cause: new Error("same") }))).toBe("same")
  expect(errorText(new TypeError("", { cause: "a string" }))).toBe("TypeError: a string")
  expect([errorText("text"), errorText(42), errorText(undefined), errorText(null)]).toEqual([
    ...["text", "42", "", ""],
  ])
})

test("a circle of causes ends", () => {
  const error = new Error("a")
  error.cause = new Error("b", { cause: error })
  expect(errorText(error)).toBe("a: b")
})

test("a state that is impossible is a fault", () => {
  expect(() => assert(true, "fine")).not.toThrow()
  expect(() => assert(0, "the queue is empty")).toThrow("assertion failed: the queue is empty")
  expect(() => unreachable("odd" as never)).toThrow("unreachable: odd")
})
