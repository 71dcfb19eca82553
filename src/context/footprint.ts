/** What a call read or wrote, as far as its input and result tell. By the names of tools: no shell is read. */
import { posix } from "node:path"
import { isObject } from "../lib/json.ts"
import type { Pair } from "./exchange.ts"

/** A stretch of a file. */
export interface Extent {
  /** Machine, path and encoding as the result names them. */
  file: string
  /** Lines or bytes, both inclusive. */
  from: number
  to: number
}

/** A path as a call named it; `on` is the machine, when the call named one. */
export interface NamedPath {
  path: string
  on: string | undefined
}

export interface Footprint {
  /** Windows of files that the result holds. */
  extents: readonly Extent[]
  /** Lines that a query gave. */
  lines: ReadonlySet<string> | undefined
  /** Files whose content the result shows. */
  read: readonly NamedPath[]
  written: readonly NamedPath[]
}

const NOTHING: Footprint = { extents: [], lines: undefined, read: [], written: [] }

const WINDOW_READERS = new Set(["read_file", "read_hex"])
const FILE_QUERIES = new Set(["find_pattern", "find_hex"])
const QUERIES = new Set([...FILE_QUERIES, "memory_search", "memory_list", "history_search"])
const WRITERS = new Set(["write_file", "write_diff", "write_hex", "apply_patch"])

/** What a writer says that failed on its way: some of its files were written. */
const PARTLY = /\bin part\b|\blanded\b|\bwritten\b/i

/** Of a call with its result. A failed call read nothing; what it wrote before it failed counts. */
export function footprintOf({ call, result }: Pair): Footprint {
  const input = isObject(call.input) ? call.input : {}
  if (WRITERS.has(call.name)) {
    if (result.is_error && !PARTLY.test(result.output)) return NOTHING
    return { ...NOTHING, written: writtenPaths(call.name, input) }
  }
  if (result.is_error) return NOTHING
  const ofFile = WINDOW_READERS.has(call.name) || FILE_QUERIES.has(call.name)
  return {
    ...NOTHING,
    ...(ofFile && { read: namedPaths(input.path, input.on) }),
    ...(WINDOW_READERS.has(call.name) && { extents: extentsOf(input.path, result.output) }),
    ...(QUERIES.has(call.name) && { lines: new Set(result.output.split("\n").filter(isHit)) }),
  }
}

const namedPaths = (paths: unknown, on: unknown): NamedPath[] =>
  (Array.isArray(paths) ? paths : [paths])
    .filter((path) => typeof path === "string")
    .map((path) => ({
      path: posix.normalize(path),
      on: typeof on === "string" ? on : undefined,
    }))

const PATCH_HEADER = /^\*\*\* (?:(?:Add|Delete|Update) File|Move to): (.+?)\s*$/gm

function writtenPaths(tool: string, input: Record<string, unknown>): NamedPath[] {
  if (tool === "apply_patch") {
    const headers = [...String(input.patch).matchAll(PATCH_HEADER)]
    return namedPaths(
      headers.map(([, path]) => path),
      input.on,
    )
  }
  const batch = [input.files, input.writes].flatMap((list) => (Array.isArray(list) ? list : []))
  return [input, ...batch].flatMap((entry) =>
    isObject(entry) ? namedPaths(entry.path, input.on) : [],
  )
}

/** `[lines 1-84 of 500 — …] server:/path`: one such head stands over each file that was read. */
const HEAD = /\[(?:lines|bytes) (\d+)-(\d+) of [^\]\n]*\] ([^\n]+)/y
const SECTION = /(?:^|\n)== [^\n]*\n/g

function extentsOf(paths: unknown, output: string): Extent[] {
  const places = Array.isArray(paths)
    ? [...output.matchAll(SECTION)].map((title) => title.index + title[0].length)
    : [0]
  return places.flatMap((place) => extentAt(output, place))
}

function extentAt(output: string, place: number): Extent[] {
  HEAD.lastIndex = place
  const [, from, to, file] = HEAD.exec(output) ?? []
  return file === undefined ? [] : [{ file, from: Number(from), to: Number(to) }]
}

/** Neither blank nor a head in brackets, which counts or names the query. */
const isHit = (line: string): boolean => line.trim() !== "" && !line.startsWith("[")
