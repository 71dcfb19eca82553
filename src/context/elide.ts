/** How a call and its result are shown: cut to size while they are fresh, in short when they are old. Pure. */
import { isObject } from "../lib/json.ts"
import { cutMiddle, firstLine, head, tail } from "../lib/text.ts"
import { elidedNote, tailCutNote } from "../schema/machine-text.ts"
import type { ToolTraits } from "../tools/tool.ts"
import type { Pair } from "./exchange.ts"

/** Characters of one fresh result in a prompt. */
export interface ResultLimits {
  maxChars: number
  /** Of a tool that reads by windows. */
  readerChars: number
}

export interface ResultView {
  limits: ResultLimits
  /** Of a tool by its name; none for one that is gone. */
  traits(name: string): Pick<ToolTraits, "windowed" | "uncapped">
}

/**
 * What becomes of a pair that is not simply fresh. `drop` takes call and result out; otherwise the output is
 * replaced by the note, or by a stub when it is old, and `old` shortens the input, too.
 */
export type Form = "drop" | { old: boolean; note?: string }

/** Characters that are left of an old result. */
const STUB = { head: 100, tail: 60 } as const
/** Up to here an old result stays whole: no stub would be shorter. */
const STUB_ABOVE = 200
/** Longer strings of an old call's input are left out; paths, flags and offsets are shorter. */
const INPUT_STRING_MAX = 200

/** The pair in its form; undefined when it is dropped. */
export function shownPair(
  { call, result }: Pair,
  form: Form | undefined,
  view: ResultView,
): Pair | undefined {
  if (form === "drop") return undefined
  const traits = view.traits(call.name)
  const { uneventful: _mark, ...kept } = result
  const output =
    form?.note ??
    (form?.old ? stub(result.output, traits) : fresh(result.output, traits, view.limits))
  return {
    call: form?.old ? { ...call, input: shortInput(call.input) } : call,
    result: { ...kept, output },
  }
}

/** What the model has just asked for: its beginning and its end, or as much as a reader's window holds. */
function fresh(output: string, traits: ToolTraits, limits: ResultLimits): string {
  if (traits.uncapped) return output
  if (traits.windowed) return cutTail(output, limits.readerChars)
  return cutMiddle(output, limits.maxChars)
}

/** What a fresh pair weighs in a prompt. */
export function freshChars({ call, result }: Pair, { traits, limits }: ResultView): number {
  const { uncapped, windowed } = traits(call.name)
  const cap = uncapped ? result.output.length : windowed ? limits.readerChars : limits.maxChars
  return Math.min(result.output.length, cap) + stringChars(call.input)
}

function stringChars(value: unknown): number {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 0
  return Object.values(value).reduce((sum: number, inner) => sum + stringChars(inner), 0)
}

/** Ends on a line where it can, and says that more is to be had by a narrower window. */
function cutTail(output: string, limit: number): string {
  if (output.length <= limit) return output
  const start = head(output, limit)
  const line = start.lastIndexOf("\n")
  const kept = line > limit / 2 ? start.slice(0, line) : start
  return `${kept}\n${tailCutNote(output.length - kept.length, output.length)}`
}

/** Of a reader only the line that says what it read: old content must not pass for the present one. */
function stub(output: string, { windowed }: ToolTraits): string {
  if (output.length <= STUB_ABOVE) return output
  const start = windowed ? firstLine(output, STUB.head + STUB.tail) : head(output, STUB.head)
  const end = windowed ? "" : tail(output, STUB.tail)
  const gone = elidedNote(output.length - start.length - end.length)
  return [start, gone, ...(end === "" ? [] : [end])].join("\n")
}

/** The input with its long strings named by their length, however deep they lie; a path is always kept. */
export function shortInput(input: unknown): unknown {
  if (typeof input === "string") {
    return input.length > INPUT_STRING_MAX ? elidedNote(input.length) : input
  }
  if (Array.isArray(input)) return input.map(shortInput)
  if (!isObject(input)) return input
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      key === "path" && typeof value === "string" ? value : shortInput(value),
    ]),
  )
}
