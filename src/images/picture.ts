/** What picture these bytes are: format by its magic bytes, width and height from its header. Nothing is decoded. */
import type { ImageType } from "../schema/image.ts"

export interface Picture {
  mediaType: ImageType
  width: number
  height: number
}

interface Size {
  width: number
  height: number
}

/**
 * The format alone, or undefined for anything but PNG, JPEG, WebP and GIF.
 * Signatures: PNG 5.2, JPEG B.1.1.3 (SOI and the next marker), RIFF/WebP, GIF89a 17.
 */
export function detectType(bytes: Uint8Array): ImageType | undefined {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  if (text(0, 8) === "\x89PNG\r\n\x1a\n") return "image/png"
  if (text(0, 3) === "\xff\xd8\xff") return "image/jpeg"
  if (text(0, 4) === "RIFF" && text(8, 12) === "WEBP") return "image/webp"
  if (/^GIF8[79]a$/.test(text(0, 6))) return "image/gif"
  return undefined
}

/** Format and size; undefined when the format is foreign or the header is cut short or broken. */
export function readPicture(bytes: Uint8Array): Picture | undefined {
  const mediaType = detectType(bytes)
  if (!mediaType) return undefined
  const size = sizeOf(mediaType, bytes)
  if (!size || size.width === 0 || size.height === 0) return undefined
  return { mediaType, ...size }
}

function sizeOf(mediaType: ImageType, bytes: Uint8Array): Size | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (mediaType === "image/png") return pngSize(view)
    if (mediaType === "image/gif") return gifSize(view)
    if (mediaType === "image/webp") return webpSize(view)
    return jpegSize(view)
  } catch (error) {
    // DataView says so when a header ends before its size does.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The IHDR chunk is the first one. */
function pngSize(view: DataView): Size | undefined {
  if (view.getUint32(12) !== fourCc("IHDR")) return undefined
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

const gifSize = (view: DataView): Size => ({
  width: view.getUint16(6, true),
  height: view.getUint16(8, true),
})

/** Segments up to the first frame header, SOF0 to SOF15; C4, C8 and CC are no frames. */
function jpegSize(view: DataView): Size | undefined {
  let at = 2
  while (view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at++ // a fill byte
      continue
    }
    const frame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (frame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    if (marker === 0xda || marker === 0xd9) return undefined // the picture's data, or its end
    const alone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
    at += alone ? 2 : 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** The first chunk: `VP8 ` lossy, `VP8L` lossless, `VP8X` extended (with its canvas). */
function webpSize(view: DataView): Size | undefined {
  const chunk = view.getUint32(12)
  if (chunk === fourCc("VP8X")) {
    return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) }
  }
  if (chunk === fourCc("VP8L") && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
  }
  if (chunk === fourCc("VP8 ") && view.getUint16(23) === 0x9d01 && view.getUint8(25) === 0x2a) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  }
  return undefined
}

const uint24 = (view: DataView, at: number): number =>
  view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000

/** Four letters as the number that `getUint32` reads. */
const fourCc = (letters: string): number =>
  [...letters].reduce((sum, letter) => sum * 256 + letter.charCodeAt(0), 0)
