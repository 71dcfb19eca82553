import { expect, test } from "bun:test"
import { MASKED, maskLiterals } from "../../src/lib/mask.ts"

test("configured secrets are masked wherever they stand", () => {
  const mask = maskLiterals(["sk-abc.def+1", "hunter22"])
  expect(mask("x sk-abc.def+1, sk-abcXdef+1 hunter22")).toBe(`x ${MASKED}, sk-abcXdef+1 ${MASKED}`)
})

test("a secret is found inside JSON and inside a URL too", () => {
  const secret = 'p"w\\d/й&x'
  const mask = maskLiterals([secret])
  expect(mask(JSON.stringify({ a: secret }))).toBe(JSON.stringify({ a: MASKED }))
  expect(mask(`https://host/?key=${encodeURIComponent(secret)}`)).toBe(
    `https://host/?key=${MASKED}`,
  )
})

test("a longer secret wins over its own prefix, and words are left alone", () => {
  expect(maskLiterals(["secret", "secret-longer"])("secret-longer secret")).toBe(
    `${MASKED} ${MASKED}`,
  )
  expect(maskLiterals(["", "no", "short"])("no short words")).toBe("no short words")
})

test("a replacement pattern in a secret is no pattern", () => {
  expect(maskLiterals(["$&$&$&$&"])("a $&$&$&$& b")).toBe(`a ${MASKED} b`)
})
