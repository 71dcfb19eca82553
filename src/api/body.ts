/**
 * Reads a request body as JSON, never more of it than the limit. Only `application/json` counts: a form or
 * plain text is what a foreign page can send without asking. All that is wrong with a body is 422, its
 * type too; only its size is 413.
 */
import { KernelError } from "../lib/error.ts"
import { tryParseJson } from "../lib/json.ts"

/** The parsed body; an empty one counts as `{}`. */
export async function readJson(request: Request, limitBytes: number): Promise<unknown> {
  const text = await readText(request, limitBytes)
  if (text === "") return {}
  const header = request.headers.get("content-type") ?? ""
  const type = header.split(";", 1)[0]!.trim().toLowerCase()
  if (type !== "application/json") {
    const found = type === "" ? "none was given" : `not ${type.slice(0, 100)}`
    throw unprocessable(`the body must come with Content-Type: application/json, ${found}`)
  }
  const parsed = tryParseJson(text)
  if (parsed === undefined) throw unprocessable("the body is not JSON")
  return parsed.value
}

const unprocessable = (message: string) => new KernelError("unprocessable", message)

async function readText(request: Request, limitBytes: number): Promise<string> {
  const { body } = request
  if (body === null) return ""
  const declared = Number(request.headers.get("content-length") ?? 0)
  if (declared > limitBytes) throw tooLarge(limitBytes)
  // One decoder over all pieces: a letter may be split between two of them.
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    if (bytes > limitBytes) throw tooLarge(limitBytes)
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

const tooLarge = (limitBytes: number) =>
  new KernelError("too_large", `the body is larger than ${limitBytes} bytes; see server.body_max`)
