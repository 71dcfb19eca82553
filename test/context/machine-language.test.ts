import { expect, test } from "bun:test"
import { join } from "node:path"

const SRC = join(import.meta.dir, "../../src")

test("PRM-039: every text of the machine is English", async () => {
  const texts = await Array.fromAsync(new Bun.Glob("**/*.txt").scan(SRC), (path) =>
    Bun.file(join(SRC, path)).text(),
  )
  expect(texts.length).toBeGreaterThan(5)
  // What people say, as an example of a title shows it, may be in any language.
  const said = /^(Message|Name): .*$/gm
  for (const text of texts) {
    expect(text.replaceAll(said, "")).not.toMatch(/\p{Script=Cyrillic}|\p{Script=Han}/u)
  }
})
