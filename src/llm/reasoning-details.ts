/**
 * OpenRouter's record of a thought: a list of pieces, streamed in parts, that must come back as it was for the
 * model to go on thinking (pydantic-ai/test_openrouter/test_openrouter_stream_with_reasoning). Pure.
 */
import { isObject } from "../lib/json.ts"

type Detail = Record<string, unknown>

const GROWING = ["text", "summary", "data"] as const

export function createReasoningDetails() {
  const details: Detail[] = []

  const add = (pieces: unknown): void => {
    if (!Array.isArray(pieces)) return
    for (const piece of pieces.filter(isObject)) {
      const last = details.at(-1)
      const same = last && last.type === piece.type && last.index === piece.index
      if (same && piece.type !== "reasoning.encrypted") grow(last, piece)
      else details.push({ ...piece })
    }
  }

  return {
    add,
    /** What these pieces say in plain words. */
    text: (pieces: unknown): string =>
      Array.isArray(pieces)
        ? pieces
            .map((piece) => (isObject(piece) ? plain(piece.text ?? piece.summary) : ""))
            .join("")
        : "",
    /** Takes the record out as JSON, once it holds what sending the text alone would lose. */
    take: (): string | undefined => {
      if (!details.some((detail) => detail.signature || detail.data)) return undefined
      return JSON.stringify(details.splice(0))
    },
  }
}

function grow(detail: Detail, piece: Detail): void {
  for (const [name, value] of Object.entries(piece)) {
    const growing = GROWING.some((field) => field === name)
    if (growing) detail[name] = plain(detail[name]) + plain(value)
    else if (value !== null && value !== "") detail[name] = value
  }
}

const plain = (value: unknown): string => (typeof value === "string" ? value : "")
