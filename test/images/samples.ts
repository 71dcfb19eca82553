/** Pictures of 23 × 17 pixels as real encoders write them, and larger ones by their headers. */

const JPEG =
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////wAARCAARABcDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwCKiiioOgKKKKACiiigAooooA//2Q=="

/** Base64 by what it is. */
export const SAMPLES = {
  png: "iVBORw0KGgoAAAANSUhEUgAAABcAAAARCAIAAAC5EaDqAAAAHUlEQVR4nGM8ISfHQDFgotyIUVNGTRk1ZdQUrAAACzEBJiOwpJUAAAAASUVORK5CYII=",
  jpeg: JPEG,
  gif: "R0lGODdhFwARAIEAAMgeHgAAAAAAAAAAACwAAAAAFwARAEAIIgABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgzatzYMCAAOw==",
  webpLossy:
    "UklGRkAAAABXRUJQVlA4IDQAAAAQAwCdASoXABEAP83i624/tzEqKAgD8DmJZQDGfBuidgAA/tDKbv2/WvP3IvkjecxAAAAA",
  webpLossless: "UklGRh4AAABXRUJQVlA4TBEAAAAvFgAEAAdQjyLXo/+BiOh/AAA=",
  webpAlpha:
    "UklGRmQAAABXRUJQVlA4WAoAAAAQAAAAFgAAEAAAQUxQSAoAAAABB1DAiAhERP8DVlA4IDQAAAAQAwCdASoXABEAP83i624/tzEqKAgD8DmJZQDGfBuidgAA/tDKbv2/WvP3IvkjecxAAAAA",
} as const

export const bytesOf = (base64: string): Uint8Array => Uint8Array.fromBase64(base64)

/** The PNG sample with another size in its header, and as many bytes after it as asked for. */
export function pngOf(options: { width?: number; height?: number; bytes?: number }): Uint8Array {
  const sample = bytesOf(SAMPLES.png)
  const bytes = new Uint8Array(options.bytes ?? sample.byteLength)
  bytes.set(sample)
  const view = new DataView(bytes.buffer)
  view.setUint32(16, options.width ?? 23)
  view.setUint32(20, options.height ?? 17)
  return bytes
}
