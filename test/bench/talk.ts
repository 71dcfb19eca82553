/** Talking to a kernel over one line: chats, turns and when their first text came. */
import type { Line } from "./line.ts"

const TEXT_DELTA = `"type":"text_delta"`
const DONE = `"type":"done"`
const TEXT = "Say the word twenty times, please, one after another."

export async function newChat(line: Line): Promise<string> {
  const created = await line.request("POST", "/v1/chats", { body: {} })
  return (JSON.parse(created) as { id: string }).id
}

export interface Turn {
  /** `performance.now()` of this process. */
  sentMs: number
  firstDeltaMs: number
  endedMs: number
  /** The answer as it came, when it was to be kept. */
  stream: string
}

/** Says something and follows the answer to its end. Throws when the turn does not end well. */
export async function takeTurn(
  line: Line,
  chatId: string,
  options: { model?: string; keep?: boolean; onPiece?: (text: string) => void } = {},
): Promise<Turn> {
  const { model, keep = false, onPiece } = options
  let firstDeltaMs = 0
  // A marker may lie across two pieces.
  let seen = ""
  let isDone = false
  const sentMs = performance.now()
  const stream = await line.request("POST", `/v1/chats/${chatId}/messages`, {
    body: { text: TEXT, ...(model !== undefined && { model }) },
    keep,
    onPiece: (piece) => {
      seen = seen.slice(-TEXT_DELTA.length) + piece
      if (firstDeltaMs === 0 && seen.includes(TEXT_DELTA)) firstDeltaMs = performance.now()
      isDone ||= seen.includes(DONE)
      onPiece?.(piece)
    },
  })
  const endedMs = performance.now()
  if (firstDeltaMs === 0) throw new Error("the turn ended without text")
  if (!isDone) throw new Error("the turn ended without done")
  return { sentMs, firstDeltaMs, endedMs, stream }
}

/** Characters of all text deltas of a kept stream. */
export function charsOf(stream: string): number {
  // The lengths between chunks stand on lines of their own; no JSON has a raw line break.
  const text = stream.replaceAll(/\r\n[0-9a-f]+\r\n/g, "")
  let chars = 0
  for (const [, json] of text.matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(json!) as { type: string; text?: string }
    if (event.type === "text_delta") chars += event.text?.length ?? 0
  }
  return chars
}
