/** Counts the deltas that a kernel sends, beside the client that is measured: how fast they really came. */

export interface DeltaCount extends AsyncDisposable {
  count(): number
}

const DELTA = `"type":"text_delta"`

/** Listens to all chats from now on. Throws when the kernel refuses. */
export async function countDeltas(url: string): Promise<DeltaCount> {
  const leave = new AbortController()
  const reply = await fetch(`${url}/v1/feed?chats=*`, { signal: leave.signal })
  if (!reply.ok || !reply.body) throw new Error(`no feed: status ${reply.status}`)
  let count = 0
  const reading = read(reply.body, (text) => {
    count += text.split(DELTA).length - 1
  })
  return {
    count: () => count,
    [Symbol.asyncDispose]: async () => {
      leave.abort()
      await reading.catch(() => undefined)
    },
  }
}

/** Frame by frame, so that no event is cut in two. */
async function read(body: ReadableStream<Uint8Array>, onFrames: (text: string) => void) {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true })
    const end = rest.lastIndexOf("\n\n")
    if (end < 0) continue
    onFrames(rest.slice(0, end))
    rest = rest.slice(end)
  }
}
