/**
 * The script of a mock turn, out of a user message:
 *
 *     mock-plan:
 *     - {think: need the time, call: clock, input: {zone: UTC}}
 *     - say: it is noon
 *
 * A YAML list or a JSON array; one item is one provider trip. Full grammar at `PlanStep`.
 */

import { errorText } from "../lib/error.ts"
import { isObject } from "../lib/json.ts"
import type { Usage } from "../schema/usage.ts"
import type { FailureClass, StopReason } from "./provider.ts"

export interface PlanCall {
  name: string
  input: Record<string, unknown>
  /** Arguments as the model would write them, instead of `input`: broken JSON for instance. */
  raw?: string
}

/** One provider trip. Its parts are played in the order of these fields. */
export interface PlanStep {
  think: string
  say: string
  calls: PlanCall[]
  /** The trip ends with this failure, after what was thought and said. */
  fail?: PlanFailure
  /** Overrides parts of the estimated usage. */
  usage: Partial<Usage>
  /** Pause before each chunk. */
  delayMs: number
  /** In how many deltas the text comes; one a word when absent. */
  chunks?: number
  /** Instead of the natural end: `length` cuts the last call. */
  stop?: StopReason
}

export type Plan = { steps: PlanStep[] } | { error: string }

const FAILURES = ["transient", "overflow", "refused", "model", "auth", "fatal"] as const
export type PlanFailure = Extract<FailureClass, (typeof FAILURES)[number]>
const STOPS: readonly StopReason[] = ["end", "tools", "length", "refusal"]

const ITEM_KEYS = "call, input, raw, calls, think, say, fail, usage, delay_ms, chunks, stop"

/** The plan in a text, or undefined when it holds none. A broken plan is an error in words. */
export async function readPlan(text: string): Promise<Plan | undefined> {
  const source = planSource(text)
  if (source === undefined) return undefined
  const { parse } = await import("yaml")
  try {
    const list: unknown = parse(source)
    if (!Array.isArray(list) || list.length === 0)
      return { error: "mock-plan: a list of steps must follow" }
    return { steps: joined(list.map(readItem)) }
  } catch (thrown) {
    return { error: `mock-plan: ${errorText(thrown)}` }
  }
}

/** The text of the list alone: what follows the list is speech. */
function planSource(text: string): string | undefined {
  const start = /^[ \t]*mock-plan:[ \t]*/m.exec(text)
  if (!start) return undefined
  const rest = text.slice(start.index + start[0].length)
  if (/^\s*\[/.test(rest)) return flowList(rest)
  const lines = rest.split("\n")
  const first = lines.findIndex((line) => line.trim() !== "")
  if (first < 0) return ""
  // An item on the line of the key itself stands where the next items stand.
  if (first === 0) lines[0] = " ".repeat(indentOf(lines.find(isItem, 1) ?? "")) + lines[0]
  const indent = indentOf(lines[first]!)
  const end = lines.findIndex((line, index) => {
    if (index <= first || line.trim() === "") return false
    return indentOf(line) < indent || (indentOf(line) === indent && !isItem(line))
  })
  return lines.slice(first, end < 0 ? undefined : end).join("\n")
}

const indentOf = (line: string): number => line.length - line.trimStart().length
const isItem = (line: string): boolean => /^\s*-(\s|$)/.test(line)

/** Up to the bracket that closes the first one, or all when none does. */
function flowList(text: string): string {
  let depth = 0
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]]/g)) {
    if (match[0] === "[") depth++
    else if (match[0] === "]" && --depth === 0) return text.slice(0, match.index + 1)
  }
  return text
}

/** Thought or text without an end of its own belongs to the trip of the next item. */
function joined(items: PlanStep[]): PlanStep[] {
  const steps: PlanStep[] = []
  let waiting: PlanStep | undefined
  for (const [index, item] of items.entries()) {
    const step = waiting ? merge(waiting, item) : item
    const isLast = index === items.length - 1
    const isWhole =
      isLast || step.calls.length > 0 || step.fail !== undefined || step.stop !== undefined
    waiting = isWhole ? undefined : step
    if (isWhole) steps.push(step)
  }
  return steps
}

function merge(first: PlanStep, second: PlanStep): PlanStep {
  return {
    ...first,
    ...second,
    think: lines(first.think, second.think),
    say: lines(first.say, second.say),
    usage: { ...first.usage, ...second.usage },
    delayMs: Math.max(first.delayMs, second.delayMs),
  }
}

const lines = (...texts: string[]): string => texts.filter((text) => text !== "").join("\n")

function readItem(item: unknown, index: number): PlanStep {
  const where = `step ${index + 1}`
  if (!isObject(item)) throw new Error(`${where} must be a mapping such as {say: hello}`)
  const step: PlanStep = { think: "", say: "", calls: [], usage: {}, delayMs: 0 }
  const single: Partial<PlanCall> = {}
  for (const [key, value] of Object.entries(item)) {
    const at = `${where}, ${key}`
    switch (key) {
      case "think":
      case "say":
        step[key] = String(value)
        break
      case "call":
        single.name = String(value)
        break
      case "input":
        single.input = objectAt(value, at)
        break
      case "raw":
        single.raw = String(value)
        break
      case "calls":
        step.calls = readCalls(value, at)
        break
      case "fail":
        step.fail = oneOf(value, FAILURES, at)
        break
      case "stop":
        step.stop = oneOf(value, STOPS, at)
        break
      case "usage":
        step.usage = objectAt(value, at)
        break
      case "delay_ms":
        step.delayMs = amountAt(value, at)
        break
      case "chunks":
        step.chunks = amountAt(value, at)
        break
      default:
        throw new Error(`${where} has no key "${key}"; known are ${ITEM_KEYS}`)
    }
  }
  if (single.name !== undefined)
    step.calls = [{ ...single, name: single.name, input: single.input ?? {} }, ...step.calls]
  else if (single.input || single.raw) throw new Error(`${where} has arguments but no call`)
  return step
}

function readCalls(value: unknown, at: string): PlanCall[] {
  if (!Array.isArray(value)) throw new Error(`${at} must be a list of {name, input}`)
  return value.map((call: unknown) => {
    if (!isObject(call) || typeof call.name !== "string")
      throw new Error(`${at} must be a list of {name, input}`)
    const raw = call.raw === undefined ? {} : { raw: String(call.raw) }
    return { name: call.name, input: objectAt(call.input ?? {}, at), ...raw }
  })
}

function objectAt(value: unknown, at: string): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`${at} must be a mapping`)
  return value
}

function amountAt(value: unknown, at: string): number {
  if (typeof value !== "number" || !(value >= 0)) throw new Error(`${at} must be a number`)
  return value
}

function oneOf<T extends string>(value: unknown, known: readonly T[], at: string): T {
  const found = known.find((word) => word === value)
  if (found === undefined) throw new Error(`${at} must be one of ${known.join(", ")}`)
  return found
}
