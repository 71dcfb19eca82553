/**
 * Carries a plan out, one operation after another, each checked against the rules whatever its schema allowed.
 * Belongs into the transaction of its phase.
 */

import { stems } from "../lib/stems.ts"
import { cleanText } from "../lib/text.ts"
import type { MemoryRow, NewMemoryRow } from "../memory/store/memory-table.ts"
import type { MemoryKind } from "../schema/memory.ts"
import {
  type Bench,
  OPS_LIMIT,
  Refusal,
  refuseRecent,
  refuseUnsaid,
  refuseWider,
  takeForget,
  target,
} from "./bench.ts"
import { isForgettable } from "./candidates.ts"
import type {
  DeriveOp,
  ForgetOp,
  ImportanceOp,
  KindOp,
  MergeOp,
  PlanOp,
  RewriteOp,
  SplitOp,
  SupersedeOp,
} from "./plan.ts"

export interface Verdict {
  op: PlanOp
  /** Why it was refused; null: it was applied. */
  reason: string | null
}

export function applyPlan(bench: Bench, ops: readonly PlanOp[]): Verdict[] {
  return ops.map((op) => {
    try {
      if (bench.limits.ops <= 0) throw new Refusal(OPS_LIMIT)
      applyOne(bench, op)
      bench.limits.ops--
      return { op, reason: null }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { op, reason: error.message }
    }
  })
}

function applyOne(bench: Bench, op: PlanOp): void {
  switch (op.op) {
    case "merge":
      merge(bench, op)
      break
    case "rewrite":
      rewrite(bench, op)
      break
    case "supersede":
      supersede(bench, op)
      break
    case "split":
      split(bench, op)
      break
    case "derive":
      derive(bench, op)
      break
    case "forget":
      forget(bench, op)
      break
    case "kind":
      setKind(bench, op)
      break
    case "importance":
      setImportance(bench, op)
  }
}

function merge(bench: Bench, op: MergeOp): void {
  const rows = [...new Set(op.ids)].map((id) => target(bench, id))
  if (rows.length < 2) throw new Refusal("a merge takes two records at least")
  refuseRecent(bench, rows)
  refuseWider(bench, rows)
  const content = cleanText(op.content).trim()
  refuseUnsaid(content, rows)
  const kept = bench.memories.merge({
    ids: rows.map(({ id }) => id),
    content,
    kind: kindOfMerge(rows, op.kind),
    importance: op.importance ?? Math.max(...rows.map(({ importance }) => importance)),
    reason: { by: "sleep", reason: op.why },
  })
  for (const row of rows) noteChange(bench, row)
  if (bench.memories.row(kept) === undefined) throw new Error(`the merge lost record ${kept}`)
}

/** What holds a core record stays core, and nothing else becomes core on the way. */
function kindOfMerge(rows: readonly MemoryRow[], wished: MemoryKind | undefined): MemoryKind {
  const kinds = new Set(rows.map(({ kind }) => kind))
  if (kinds.has("core")) return "core"
  if (wished === "fact" || wished === "event") return wished
  return kinds.has("fact") ? "fact" : "event"
}

function rewrite(bench: Bench, op: RewriteOp): void {
  const row = target(bench, op.id)
  refuseRecent(bench, [row])
  refuseWider(bench, [row])
  const content = cleanText(op.content).trim()
  refuseUnsaid(content, [row])
  write(bench, { ...row, content, updated_at: bench.now, consolidated_at: bench.now })
  noteChange(bench, row)
}

function supersede(bench: Bench, op: SupersedeOp): void {
  const row = target(bench, op.id)
  const newer = target(bench, op.by)
  if (row.kind === "core") throw new Refusal(`record ${row.id} is core`)
  refuseRecent(bench, [row])
  const isNewer =
    newer.created_at > row.created_at || (newer.created_at === row.created_at && newer.id > row.id)
  if (!isNewer) throw new Refusal(`record ${newer.id} is not newer than ${row.id}`)
  letGo(bench, row, op.why)
}

function split(bench: Bench, op: SplitOp): void {
  const row = target(bench, op.id)
  refuseRecent(bench, [row])
  refuseWider(bench, [row])
  const parts = op.parts.map((part) => cleanText(part).trim())
  if (parts.includes("")) throw new Refusal("a part is empty")
  refuseUnsaid(parts.join("\n"), [row])
  const [first, ...others] = parts
  const same = { ...row, updated_at: bench.now, consolidated_at: bench.now }
  write(bench, { ...same, content: first! })
  noteChange(bench, row)
  const { id: _id, ...copy } = same
  for (const content of others) add(bench, { ...copy, content, hits: 0 })
}

/** Of the words of a derived fact so many stand in the events. */
const FOUNDED_WORDS = 1 / 3

function derive(bench: Bench, op: DeriveOp): void {
  const rows = [...new Set(op.ids)].map((id) => target(bench, id))
  if (rows.length < 2) throw new Refusal("a fact is derived from two events at least")
  const other = rows.find(({ kind }) => kind !== "event")
  if (other) throw new Refusal(`record ${other.id} is no event`)
  refuseWider(bench, rows)
  const content = cleanText(op.content).trim()
  const said = [...new Set(stems(content))]
  const known = new Set(rows.flatMap((row) => stems(row.content)))
  if (said.filter((stem) => known.has(stem)).length < said.length * FOUNDED_WORDS || !said.length) {
    throw new Refusal("the fact does not follow from these events")
  }
  add(bench, {
    kind: "fact",
    importance: op.importance ?? 3,
    private: rows.some((row) => row.private === 1) ? 1 : 0,
    content,
    source: null,
    hits: 0,
    created_at: bench.now,
    updated_at: bench.now,
    accessed_at: bench.now,
    consolidated_at: bench.now,
  })
}

function forget(bench: Bench, op: ForgetOp): void {
  const row = target(bench, op.id)
  refuseRecent(bench, [row])
  if (!isForgettable(row, bench)) throw new Refusal(`record ${row.id} is not up for forgetting`)
  letGo(bench, row, op.why)
}

function setKind(bench: Bench, op: KindOp): void {
  const row = target(bench, op.id)
  if (row.kind === op.kind) throw new Refusal(`record ${row.id} is ${op.kind} already`)
  if (op.kind === "core" && bench.coreUsed() + row.content.length > bench.coreChars) {
    throw new Refusal("core has no room for it")
  }
  write(bench, { ...row, kind: op.kind, consolidated_at: bench.now })
  noteChange(bench, row)
}

function setImportance(bench: Bench, op: ImportanceOp): void {
  const row = target(bench, op.id)
  if (row.importance === op.importance) {
    throw new Refusal(`record ${row.id} has importance ${op.importance} already`)
  }
  write(bench, { ...row, importance: op.importance })
  noteChange(bench, row)
}

function letGo(bench: Bench, row: MemoryRow, why: string): void {
  takeForget(bench)
  bench.memories.forget(row.id, { by: "sleep", reason: why })
  noteChange(bench, row)
}

const write = (bench: Bench, row: MemoryRow): void => bench.memories.put(row)

function add(bench: Bench, row: NewMemoryRow): void {
  const id = bench.memories.add(row)
  bench.changes.push({ memoryId: id, before: null, after: bench.memories.row(id) ?? null })
}

/** A record as it was, beside what it is now. */
function noteChange(bench: Bench, before: MemoryRow): void {
  const after = bench.memories.row(before.id) ?? null
  bench.changes.push({ memoryId: before.id, before, after })
}
