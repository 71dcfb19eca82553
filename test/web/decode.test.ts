/** Bytes to text: what the server says, else the page, else how the letters stand; and public cases. */
import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseJson } from "../../src/lib/json.ts"
import { decodePage } from "../../src/web/decode.ts"

const DATA = join(import.meta.dir, "../../../shared/data/text/encodings.jsonl")
if (!existsSync(DATA)) process.stderr.write("skipped: there are no public cases of encodings\n")

/** Browsers read none of these either: https://encoding.spec.whatwg.org/#names-and-labels. */
const NOT_OF_THE_WEB = /^(?:CP850|CP852|IBM855|ISO-2022-KR|UTF-32..)$/

test.skipIf(!existsSync(DATA))("public cases, with the encoding told by the server", () => {
  const lines = readFileSync(DATA, "utf8").trim().split("\n")
  const cases = lines.map((line) => parseJson(line) as Record<"encoding" | "b64" | "text", string>)
  const ofTheWeb = cases.filter(({ encoding }) => !NOT_OF_THE_WEB.test(encoding))
  const wrong = ofTheWeb.filter(({ encoding, b64, text }) => {
    const told = decodePage(Buffer.from(b64, "base64"), `text/html; charset=${encoding}`)
    return told.replace(/^\ufeff/, "") !== text.replace(/^\ufeff/, "")
  })
  expect(wrong.map(({ encoding }) => encoding)).toEqual([])
  expect(ofTheWeb.length).toBeGreaterThan(50)
})

const CYRILLIC_BYTES = {
  // "Лодка и гавань" as each writes it.
  "windows-1251": [
    0xcb, 0xee, 0xe4, 0xea, 0xe0, 0x20, 0xe8, 0x20, 0xe3, 0xe0, 0xe2, 0xe0, 0xed, 0xfc,
  ],
  "koi8-r": [0xec, 0xcf, 0xc4, 0xcb, 0xc1, 0x20, 0xc9, 0x20, 0xc7, 0xc1, 0xd7, 0xc1, 0xce, 0xd8],
}

test("without a word about it, letters tell by how they stand", () => {
  for (const bytes of Object.values(CYRILLIC_BYTES)) {
    expect(decodePage(Uint8Array.from(bytes), "text/html")).toBe("Лодка и гавань")
  }
  const western = Buffer.from("Käse und Brötchen, déjà vu", "latin1")
  expect(decodePage(western, "text/html")).toBe("Käse und Brötchen, déjà vu")
  expect(decodePage(Buffer.from("Лодка"), "text/html")).toBe("Лодка")
})

test("a mark at the start goes before the server, the server before the page, and a wrong name before nothing", () => {
  const utf8 = Buffer.from("\ufeffЛодка")
  expect(decodePage(utf8, "text/html; charset=windows-1251")).toBe("Лодка")
  const bytes = Uint8Array.from(CYRILLIC_BYTES["windows-1251"])
  expect(decodePage(bytes, "text/html; charset=windows-1251")).toBe("Лодка и гавань")
  expect(decodePage(bytes, "text/html; charset=no-such-thing")).toBe("Лодка и гавань")
  const page = Buffer.concat([
    Buffer.from('<meta charset="koi8-r">'),
    Uint8Array.from(CYRILLIC_BYTES["koi8-r"]),
  ])
  expect(decodePage(page, "text/html")).toBe('<meta charset="koi8-r">Лодка и гавань')
})
