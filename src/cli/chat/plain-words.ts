/** Words of models and tools as plain lines: nothing in them moves the cursor or rings a bell. */

import { firstLine } from "../../lib/text.ts"
import type { Item } from "../../schema/item.ts"

/** Control characters but newline and tab, and overrides of the writing direction. */
const UNSAFE = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu

/** For a terminal; escape sequences go as a whole. */
export const plainText = (text: string): string => Bun.stripANSI(text).replace(UNSAFE, "")

const LINE_CHARS_MAX = 100

/** A tool call in one line: `shell {"command":"ls -la"}`. */
export function callLine(item: Extract<Item, { kind: "tool_call" }>): string {
  const input = item.input === undefined ? "" : ` ${JSON.stringify(item.input)}`
  return firstLine(plainText(`${item.name}${input === " {}" ? "" : input}`), LINE_CHARS_MAX)
}

/** How a call failed or was stopped; undefined for one that went well. */
export function failureLine(item: Extract<Item, { kind: "tool_call" }>): string | undefined {
  if (item.status === "aborted") return `${item.name}: stopped`
  if (item.status !== "failed") return undefined
  return `${item.name} failed: ${firstLine(plainText(item.result?.output ?? ""), LINE_CHARS_MAX)}`
}
