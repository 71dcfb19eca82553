/** Reads at most so many bytes of a body as text and leaves the rest unread. */

/** Never throws: a body that breaks off gives what had come. */
export async function readBounded(
  body: ReadableStream<Uint8Array> | null,
  limitBytes: number,
): Promise<string> {
  if (!body) return ""
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  let left = limitBytes
  try {
    while (left > 0) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value.subarray(0, left), { stream: true })
      left -= value.byteLength
    }
  } catch {
    // What came before the break is worth more than the reason of the break.
  }
  void reader.cancel().catch(() => {})
  return text + decoder.decode()
}
