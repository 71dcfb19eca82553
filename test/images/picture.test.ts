import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { detectType, readPicture } from "../../src/images/picture.ts"
import { bytesOf, pngOf, SAMPLES } from "./samples.ts"

const TYPES = {
  png: "image/png",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webpLossy: "image/webp",
  webpLossless: "image/webp",
  webpAlpha: "image/webp",
} as const

describe("reading a header", () => {
  for (const [name, base64] of Object.entries(SAMPLES)) {
    test(`${name}: format and size`, () => {
      expect(readPicture(bytesOf(base64))).toEqual({
        mediaType: TYPES[name as keyof typeof SAMPLES],
        width: 23,
        height: 17,
      })
    })

    test(`${name}: no prefix of the file throws or gives a wrong size`, () => {
      const bytes = bytesOf(base64)
      for (let length = 0; length < bytes.byteLength; length++) {
        const picture = readPicture(bytes.subarray(0, length))
        if (picture) expect([picture.width, picture.height]).toEqual([23, 17])
      }
    })
  }

  test("a view into a larger buffer is read from its own start", () => {
    const padded = new Uint8Array([1, 2, 3, ...bytesOf(SAMPLES.jpeg)])
    expect(readPicture(padded.subarray(3))).toMatchObject({ width: 23, height: 17 })
  })

  test("JPEG: fill bytes and segments before the frame are stepped over", () => {
    const jpeg = bytesOf(SAMPLES.jpeg)
    const exif = [0xff, 0xe1, 0x00, 0x06, 0xff, 0xc0, 0x00, 0x00]
    const before = new Uint8Array([...jpeg.subarray(0, 2), ...exif, 0xff, ...jpeg.subarray(2)])
    expect(readPicture(before)).toMatchObject({ width: 23, height: 17 })
  })

  test("foreign formats and empty sizes are no pictures", () => {
    expect(detectType(new TextEncoder().encode("<svg xmlns='x'/>"))).toBeUndefined()
    expect(detectType(new TextEncoder().encode("RIFF1234WAVEfmt "))).toBeUndefined()
    expect(detectType(new Uint8Array())).toBeUndefined()
    expect(readPicture(pngOf({ width: 0 }))).toBeUndefined()
  })

  test("random bytes behind a true signature never throw", () => {
    const heads = Object.values(SAMPLES).map((base64) => bytesOf(base64).subarray(0, 16))
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 200 }), (head, tail) => {
        readPicture(new Uint8Array([...head, ...tail]))
      }),
      { seed: 1, numRuns: 2000 },
    )
  })
})
