/** The door of the picture store: nothing that a provider cannot take gets past it. */
import { KernelError } from "../lib/error.ts"
import { IMAGE_TYPES, type ImageType } from "../schema/image.ts"
import { detectType, type Picture, readPicture } from "./picture.ts"

export interface Limits {
  /** Largest file. */
  maxBytes: number
  /** Longest side, pixels. */
  maxSide: number
}

export interface Candidate {
  base64: string
  /** What the sender says it is; detected when absent. */
  mediaType?: string
}

export interface Admitted {
  bytes: Uint8Array
  mediaType: ImageType
}

const KNOWN = "PNG, JPEG, WebP or GIF"

/**
 * The bytes of a picture that a message carries. `path` names its field in errors. Throws KernelError:
 * too_large over a limit, invalid for anything that is not the picture it claims to be.
 */
export function admit(candidate: Candidate, limits: Limits, path: string): Admitted {
  const bytes = decode(candidate.base64, limits.maxBytes, path)
  const picture = readPicture(bytes)
  if (!picture) {
    throw new KernelError("invalid", `the picture is ${seen(bytes)}: send ${KNOWN}`, { path })
  }
  checkDeclared(candidate.mediaType, picture, path)
  checkSides(picture, limits, path)
  return { bytes, mediaType: picture.mediaType }
}

/** A drawing goes to people, not back to a model: only its format counts, and a limit for a runaway upstream. */
export function admitDrawing(bytes: Uint8Array, maxBytes: number): Admitted {
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
  const mediaType = detectType(bytes)
  if (!mediaType) throw new KernelError("invalid", `the drawn picture is ${seen(bytes)}`)
  return { bytes, mediaType }
}

function decode(base64: string, maxBytes: number, path: string): Uint8Array {
  // Four characters hold three bytes: what is far too much is refused before it is decoded.
  if (Math.floor(base64.length / 4) * 3 - 2 > maxBytes) throw tooLarge(maxBytes, path)
  const bytes = fromBase64(base64, path)
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes, path)
  return bytes
}

const tooLarge = (maxBytes: number, path?: string): KernelError =>
  new KernelError(
    "too_large",
    `the picture is larger than ${humanSize(maxBytes)}: send a smaller one`,
    path === undefined ? {} : { path },
  )

/** A check and Node's decoder: on pictures many times faster than the strict `Uint8Array.fromBase64`. */
function fromBase64(base64: string, path: string): Uint8Array {
  if (/^[A-Za-z0-9+/\s]*={0,2}$/.test(base64.trimEnd())) return Buffer.from(base64, "base64")
  const hint = base64.startsWith("data:")
    ? "leave out the data: prefix"
    : "send its bytes in base64"
  throw new KernelError("invalid", `the picture is no base64: ${hint}`, { path })
}

const humanSize = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Number((bytes / 1024 / 1024).toFixed(1))} MiB` : `${bytes} bytes`

function checkDeclared(declared: string | undefined, picture: Picture, path: string): void {
  if (declared === undefined) return
  const name = declared.trim().toLowerCase()
  const type = name === "image/jpg" ? "image/jpeg" : name
  if (type === picture.mediaType) return
  throw new KernelError(
    "invalid",
    IMAGE_TYPES.some((known) => known === type)
      ? `media_type says ${declared}, the bytes are ${picture.mediaType}: correct it or leave it out`
      : `media_type ${declared} is not supported: send ${KNOWN}`,
    { path },
  )
}

function checkSides({ width, height }: Picture, { maxSide }: Limits, path: string): void {
  if (width <= maxSide && height <= maxSide) return
  throw new KernelError(
    "too_large",
    `the picture is ${width} × ${height} pixels, a side may have ${maxSide}: send a smaller one`,
    { path },
  )
}

/** What refused bytes look like, for people. */
function seen(bytes: Uint8Array): string {
  if (bytes.byteLength === 0) return "empty"
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 16))
  if (start.startsWith("%PDF")) return "a PDF"
  if (start.startsWith("BM")) return "a BMP"
  if (/^(II\*\0|MM\0\*)/.test(start)) return "a TIFF"
  if (/^....ftyp(heic|heix|hevc|mif1)/s.test(start)) return "a HEIC"
  if (/^....ftypavi[fs]/s.test(start)) return "an AVIF"
  if (/^\s*<(svg|\?xml)/i.test(start)) return "an SVG"
  return detectType(bytes) ? "cut short or broken" : "of an unknown format"
}
