/** Reads a reply's body up to a number of decoded bytes: what unpacks to gigabytes is left packed. */
import type { IncomingMessage } from "node:http"
import type { Transform } from "node:stream"

export interface ReadLimits {
  maxBytes: number
  signal: AbortSignal
}

export async function readBody(
  reply: IncomingMessage,
  { maxBytes, signal }: ReadLimits,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const decoder = await decoderOf(reply.headers["content-encoding"])
  const stream = decoder ? reply.pipe(decoder) : reply
  const chunks: Uint8Array[] = []
  let read = 0
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      signal.throwIfAborted()
      const left = maxBytes - read
      chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
      read += chunk.length
      if (read > maxBytes) break
    }
  } finally {
    reply.destroy()
    decoder?.destroy()
  }
  return { body: Buffer.concat(chunks), truncated: read > maxBytes }
}

async function decoderOf(encoding: string | undefined): Promise<Transform | undefined> {
  const { createBrotliDecompress, createGunzip, createInflate } = await import("node:zlib")
  switch (encoding?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip()
    case "deflate":
      return createInflate()
    case "br":
      return createBrotliDecompress()
    default:
      return undefined
  }
}
