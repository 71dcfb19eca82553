/** A page of the web as text for a model: readable, bounded, in pieces. */
import { head } from "../lib/text.ts"
import { type GuardedFetch, GuardedFetchError } from "../net/guarded-fetch.ts"
import { ToolFailure } from "../tools/tool.ts"
import { decodePage } from "./decode.ts"
import { pageText } from "./html-text.ts"

export const PAGE_LIMITS = {
  timeoutMs: 30_000,
  /** Decoded bytes that are read of a page. */
  bytes: 3 * 1024 * 1024,
  /** Characters of one answer. */
  chars: 16_000,
  /** Of an error page so much is told. */
  errorChars: 500,
} as const

const AGENT = "Mozilla/5.0 (compatible; eva-kernel)"
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i
const TEXT =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|javascript|ecmascript|x-ndjson|x-sh|toml|graphql|sql)\b|image\/svg\+xml)/i

export interface PageRequest {
  url: string
  /** Where to read on, in characters. */
  offset: number
  signal: AbortSignal
}

/** Title, address and text. Throws ToolFailure with the reason in words for the model. */
export async function fetchPage(fetch: GuardedFetch, request: PageRequest): Promise<string> {
  const reply = await fetch(request.url, {
    headers: {
      "user-agent": AGENT,
      accept: "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5",
      "accept-language": "en,ru;q=0.8,*;q=0.5",
    },
    ...{ maxBytes: PAGE_LIMITS.bytes, timeoutMs: PAGE_LIMITS.timeoutMs, signal: request.signal },
  }).catch((error: unknown) => {
    throw error instanceof GuardedFetchError ? new ToolFailure(error.message) : error
  })
  const { title, text } = await textOf(reply)
  if (reply.status >= 400) {
    const said = head(text, PAGE_LIMITS.errorChars)
    throw new ToolFailure(
      `${reply.url} answered with status ${reply.status}.${said && `\n${said}`}`,
    )
  }
  const cut = reply.truncated ? `\n[only the first ${PAGE_LIMITS.bytes} bytes were read]` : ""
  const heading = [title && `# ${title}`, reply.url].filter(Boolean).join("\n")
  return `${heading}\n\n${pieceOf(text, request.offset)}${cut}`
}

async function textOf(reply: { url: string; contentType: string; body: Uint8Array }) {
  const { url, contentType, body } = reply
  const isText =
    contentType === "" ? looksLikeText(body) : HTML.test(contentType) || TEXT.test(contentType)
  if (!isText) {
    const type = contentType.split(";")[0] || "of no stated type"
    throw new ToolFailure(`${url} is no text: ${type}, ${body.length} bytes`)
  }
  const text = decodePage(body, contentType)
  const isHtml =
    HTML.test(contentType) || (contentType === "" && /^\s*<(?:!doctype|html)/i.test(text))
  return isHtml ? pageText(text, url) : { title: "", text: text.trim() }
}

const looksLikeText = (body: Uint8Array): boolean => !body.subarray(0, 8192).includes(0)

/** What begins at the offset, ending on a line where there is one, and how to go on. */
function pieceOf(text: string, offset: number): string {
  if (text === "") return "[empty]"
  if (offset >= text.length) {
    throw new ToolFailure(
      `offset ${offset} is behind the end: the text has ${text.length} characters`,
    )
  }
  const rest = text.slice(offset)
  if (rest.length <= PAGE_LIMITS.chars) return rest
  const piece = head(rest, PAGE_LIMITS.chars)
  const lineEnd = piece.lastIndexOf("\n")
  const shown = lineEnd > PAGE_LIMITS.chars / 2 ? piece.slice(0, lineEnd + 1) : piece
  const next = offset + shown.length
  return `${shown.trimEnd()}\n[characters ${offset}-${next} of ${text.length}; read on with offset ${next}]`
}
