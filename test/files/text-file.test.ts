/** Texts of files in the encodings of the world: read right, and written back to the byte. */
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { encodingNamed } from "../../src/files/encodings.ts"
import { isLossless, NotText, readText, writeText } from "../../src/files/text-file.ts"

setDefaultTimeout(60_000)

const CASES = join(import.meta.dir, "../../../shared/data/text/encodings.jsonl")
if (!existsSync(CASES)) process.stdout.write("skipped: no ../shared/data/text/encodings.jsonl\n")

interface EncodingCase {
  id: string
  encoding: string
  b64: string
  text: string
}

const plain = (text: string): string => text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n")

describe.skipIf(!existsSync(CASES))("public samples", () => {
  const cases = () =>
    readFileSync(CASES, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as EncodingCase)

  test("each is read right when its encoding is named", async () => {
    const wrong: string[] = []
    for (const { id, encoding, b64, text } of cases()) {
      const found = await encodingNamed(encoding)
      const read = found?.decode(Buffer.from(b64, "base64"))
      if (read === undefined || plain(read) !== plain(text)) wrong.push(id)
    }
    expect(wrong).toEqual([])
  })

  test("most are read right without a name, and what is read can be written back as it was", async () => {
    let [right, all] = [0, 0]
    for (const { b64, text } of cases()) {
      const bytes = Buffer.from(b64, "base64")
      all++
      const file = await readText(bytes).catch((error: unknown) => {
        if (error instanceof NotText) return undefined
        throw error
      })
      if (!file) continue
      if (plain(file.text) === plain(text)) right++
      if (isLossless(bytes, file)) expect(Buffer.from(writeText(file.text, file))).toEqual(bytes)
    }
    process.stdout.write(`${right} of ${all} samples are told without a name\n`)
    expect(right / all).toBeGreaterThan(0.5)
  })
})
