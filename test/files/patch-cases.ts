/** The public cases of peers, where they are at hand. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const FOLDER = join(import.meta.dir, "../../../shared/data/apply_patch")

export const CASES_MISSING = existsSync(FOLDER)
  ? undefined
  : "the public patch cases are not here (../shared/data/apply_patch)"

type StoredTree = Record<string, { text?: string; b64?: string; dir?: boolean }>

export interface ApplyCase {
  id: string
  dialect: string
  before: StoredTree
  patch: string
  expect: {
    ok: boolean
    after?: StoredTree
    after_contains?: Record<string, string>
    error_contains?: string
  }
}

interface StoredChange {
  op: "add" | "delete" | "update"
  path: string
  contents?: string
  move_to?: string | null
  chunks?: StoredChunk[]
}

export interface StoredChunk {
  context: string | null
  old: string[]
  new: string[]
  eof: boolean
}

export interface ParseCase {
  id: string
  mode: "lenient" | "strict" | "stream"
  patch: string
  expect: {
    ok: boolean
    hunks?: StoredChange[]
    hunk_count?: number
    error_contains?: string
    line?: number
  }
}

export interface InvocationCase {
  id: string
  argv: string[]
  expect: { is_apply_patch: boolean; workdir?: string | null }
}

export interface TextCase {
  id: string
  mode?: "default" | "create"
  original: string
  diff: string
  chunks: StoredChunk[]
  expect: { ok: boolean; result?: string; error_contains?: string }
}

export interface SeekCase {
  id: string
  lines: string[]
  pattern: string[]
  start: number
  eof: boolean
  expected: number | null
}

export const readCases = <T>(name: string): T[] =>
  readFileSync(join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T)

/** The tree of a case as bytes; empty folders are null. */
export const treeOf = (tree: StoredTree): Record<string, Uint8Array | string | null> =>
  Object.fromEntries(
    Object.entries(tree).map(([path, { text, b64, dir }]) => [
      path,
      dir ? null : b64 === undefined ? (text ?? "") : Buffer.from(b64, "base64"),
    ]),
  )
