/** Pictures as `data:` URLs, the form in which OpenAI's wires carry them. */
import type { ImageData } from "./provider.ts"

export const toDataUrl = (image: ImageData): string =>
  `data:${image.mediaType};base64,${image.base64}`

/** The picture in a base64 `data:` URL; undefined when it is something else. */
export function fromDataUrl(url: string): ImageData | undefined {
  const comma = url.indexOf(",")
  const found = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,;]*)*;base64$/i.exec(url.slice(0, comma))
  return found ? { mediaType: found[1]!, base64: url.slice(comma + 1) } : undefined
}
