/**
 * One keep-alive HTTP connection that does only what a load generator needs, so that the client's own work
 * does not stand in the figures: requests one after another, answers with a length or in chunks.
 */

export interface Line {
  /** The whole body; `onPiece` sees each piece of the wire as it arrives. Throws on a status over 299. */
  request(method: string, path: string, options?: RequestOptions): Promise<string>
  /** Stops reading, as a client does that hangs. */
  pause(): void
  resume(): void
  close(): void
}

export interface RequestOptions {
  body?: unknown
  onPiece?: (text: string) => void
  /** False: the answer is only shown to `onPiece`. */
  keep?: boolean
}

interface Pending {
  options: RequestOptions
  resolve: (text: string) => void
  reject: (error: Error) => void
  text: string
  /** The end of what came so far: enough to find the end of the answer. */
  tail: string
  bytes: number
  head: Head | undefined
}

interface Head {
  status: number
  /** Undefined: in chunks. */
  endsAt: number | undefined
}

const LAST_CHUNK = "\r\n0\r\n\r\n"

export async function openLine(baseUrl: string): Promise<Line> {
  const { hostname, port, host } = new URL(baseUrl)
  let pending: Pending | undefined

  const settle = (finish: (pending: Pending) => void): void => {
    const settled = pending
    pending = undefined
    if (settled) finish(settled)
  }
  const onData = (data: Buffer): void => {
    if (!pending) return
    const text = data.toString("latin1")
    pending.bytes += text.length
    if (pending.options.keep !== false || !pending.head) pending.text += text
    pending.tail = (pending.tail + text).slice(-LAST_CHUNK.length)
    pending.head ??= readHead(pending.text)
    pending.options.onPiece?.(text)
    const { head, bytes, tail } = pending
    if (!head) return
    if (head.endsAt === undefined ? tail !== LAST_CHUNK : bytes < head.endsAt) return
    settle(({ resolve, reject, text }) => {
      const body = text.slice(text.indexOf("\r\n\r\n") + 4)
      if (head.status < 300) resolve(body)
      else reject(new Error(`status ${head.status}: ${body.slice(0, 300)}`))
    })
  }
  const onEnd = (): void =>
    settle(({ reject }) => reject(new Error("the connection ended within an answer")))

  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { data: (_, data) => onData(data), end: onEnd, close: onEnd, error: onEnd },
  })
  return {
    request: (method, path, options = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      pending = { options, resolve, reject, text: "", tail: "", bytes: 0, head: undefined }
      const json = options.body === undefined ? "" : JSON.stringify(options.body)
      const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${json && length}\r\n${json}`)
      return promise
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => socket.end(),
  }
}

function readHead(text: string): Head | undefined {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  return {
    status: Number(head.slice(9, 12)),
    endsAt: length === undefined ? undefined : end + 4 + Number(length),
  }
}
