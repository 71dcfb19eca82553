/** A tool call in words: what it was asked in one line, and all of its input and output. */
import type { Item } from "../../../schema/item.ts"
import { safeLine, safeText } from "./safe-text.ts"

export type ToolItem = Extract<Item, { kind: "tool_call" }>

/** Of the usual inputs these say most; the first one that is a text becomes the summary. */
const TELLING = [
  ...[
    "command",
    "cmd",
    "path",
    "file",
    "url",
    "query",
    "pattern",
    "prompt",
    "text",
    "name",
    "title",
  ],
]

const SUMMARY_CHARS_MAX = 300

/** `shell` with `{command: "ls -la"}` → `ls -la`. */
export function toolSummary(input: unknown): string {
  if (typeof input === "string") return safeLine(input.slice(0, SUMMARY_CHARS_MAX))
  if (typeof input !== "object" || input === null) return ""
  const fields: [string, unknown][] = Object.entries(input)
  const told = TELLING.map((name) => fields.find(([key]) => key === name)?.[1])
  const best = told.find((value) => typeof value === "string" && value !== "")
  const text = typeof best === "string" ? best : fields.map(fieldText).join(" ")
  return safeLine(text.slice(0, SUMMARY_CHARS_MAX))
}

const fieldText = ([key, value]: [string, unknown]): string =>
  `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`

/** How it ended, for the end of the line: `12 lines`, `failed: no such file`. */
export function toolOutcome(item: ToolItem): string {
  if (item.status === "running") return item.progress ? safeLine(lastLine(item.progress)) : ""
  if (item.status === "aborted") return "stopped"
  const output = safeText(item.result?.output ?? "").trim()
  if (item.status === "failed") return `failed: ${safeLine(output.split("\n", 1)[0] ?? "")}`
  if (output === "") return "no output"
  const lines = output.split("\n").length
  return lines === 1 ? safeLine(output) : `${lines} lines`
}

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? ""

/** The whole input, one field a block. */
export function toolInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return safeText(String(input ?? ""))
  const fields: [string, unknown][] = Object.entries(input)
  return safeText(fields.map(([key, value]) => `${key}: ${valueText(value)}`).join("\n"))
}

const valueText = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2)
  return text.includes("\n") ? `\n${text.replace(/^/gm, "  ")}` : text
}

export const toolOutput = (item: ToolItem): string =>
  safeText(item.result?.output ?? item.progress ?? "").trimEnd()
