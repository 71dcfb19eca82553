/**
 * The stage that tidies memory: hygiene, clusters, forgetting, kinds. A phase first asks all that it has to ask;
 * then all that it changes, its journal and the marks of what is settled become one transaction.
 */
import { sleep } from "../lib/async.ts"
import type { Clock } from "../lib/clock.ts"
import type { CorpusRecord } from "../memory/consolidate.ts"
import type { Memories } from "../memory/memories.ts"
import type { MemoryRow } from "../memory/store/memory-table.ts"
import type { Store } from "../store/open.ts"
import { applyPlan, type Verdict } from "./apply.ts"
import { type AskParts, askForPlan, type PlanAnswer } from "./ask.ts"
import { type Bench, FORGET_LIMIT, type Limits, OPS_LIMIT } from "./bench.ts"
import { isForgettable } from "./candidates.ts"
import clusterText from "./cluster.txt" with { type: "text" }
import { clustersOf } from "./clusters.ts"
import { type Ages, agesOf, breathe, lineOf, needsLook, wholeCorpus } from "./corpus.ts"
import forgetText from "./forget.txt" with { type: "text" }
import kindsText from "./kinds.txt" with { type: "text" }
import { idsOf, type PlanOp } from "./plan.ts"
import type { Change, SleepStore } from "./store.ts"

export interface StageSettings {
  minMemories: number
  maxOps: number
  maxForget: number
  keepRecentMs: number
  archiveTtlMs: number
  jaccard: number
  cosine: number
  maxCluster: number
  halfLifeMs: number
  /** Room of core in a prompt, characters. */
  coreChars: number
}

export interface StageParts extends AskParts {
  store: Pick<Store, "write">
  clock: Clock
  memories: Memories
  journal: SleepStore
  settings: StageSettings
}

export interface Night {
  runId: number
  dryRun: boolean
  signal: AbortSignal
  /** Tells what it is at. */
  at(phase: string): void
}

const STAGE = "memory"
/** A record that a model would not let go is not asked about again for so long. */
const SPARED_MS = 90 * 24 * 3600 * 1000
/** Groups that one night asks about: a large import is tidied over several nights. */
const GROUPS_MAX = 120
const EMBED_MAX_MS = 10 * 60_000
const CANDIDATES_MAX = 60
const KINDS_MAX_CHARS = 100_000
const KINDS_LINE_CHARS = 160

export type MemoryStage = ReturnType<typeof createMemoryStage>

export function createMemoryStage(parts: StageParts) {
  const { memories, settings } = parts
  return {
    name: STAGE,
    /** A small corpus costs nothing. */
    isWanted: (): boolean => memories.count() >= settings.minMemories && memories.count() > 0,
    run: async (night: Night): Promise<void> => {
      const limits: Limits = { ops: settings.maxOps, forgets: settings.maxForget }
      const phases = [hygiene, clusters, forgetting, kinds]
      for (const [position, phase] of phases.entries()) {
        if (night.signal.aborted) return
        await phase({ parts, night, limits, position })
      }
    },
  }
}

interface PhaseAt {
  parts: StageParts
  night: Night
  limits: Limits
  position: number
}

/** Without a model: missing vectors, and the end of what was forgotten long ago. */
async function hygiene({ parts, night, position }: PhaseAt): Promise<void> {
  const { memories, clock, settings, journal } = parts
  night.at("hygiene")
  const embedded = new AbortController()
  const enough = AbortSignal.any([night.signal, embedded.signal])
  // An upstream that is slow today holds nobody's sleep.
  await Promise.race([
    memories.embedMissing().finally(() => embedded.abort()),
    sleep(EMBED_MAX_MS, enough),
  ])
  if (night.signal.aborted) return
  const erased = night.dryRun
    ? 0
    : await memories.purgeArchived(clock.now() - settings.archiveTtlMs)
  if (erased > 0) parts.store.write(journal.eraseOrphans)
  const note = erased > 0 ? `${erased} archived records were erased` : null
  settlePhase(parts, night, { name: "hygiene", position, calls: 0, note, work: () => [] })
}

async function clusters(at: PhaseAt): Promise<void> {
  const { parts, night, limits } = at
  night.at("cluster")
  const ages = agesOf(parts.clock, parts.settings)
  const records = await wholeCorpus(parts.memories, breathe)
  const groups = await groupsOf(records, { parts, ages, signal: night.signal })
  const asked: { group: readonly CorpusRecord[]; answer: PlanAnswer }[] = []
  let planned = 0
  for (const group of groups.slice(0, GROUPS_MAX)) {
    // What the night has no room for waits for the next one.
    if (night.signal.aborted || planned >= limits.ops) break
    const rows = group.map(({ row }) => row)
    const answer = await ask(at, "cluster", { instructions: clusterText, rows, ages })
    asked.push({ group, answer })
    planned += "ops" in answer ? answer.ops.length : 0
  }
  if (night.signal.aborted) return
  const unasked = groups.slice(asked.length).flat()
  const failed = asked.flatMap(({ answer }) => ("failure" in answer ? [answer.failure] : []))
  const waiting = new Set([
    ...unasked.map(({ row }) => row.id),
    ...asked.flatMap(({ group, answer }) =>
      "failure" in answer ? group.map(({ row }) => row.id) : [],
    ),
  ])
  const changes: Change[] = []
  settlePhase(parts, night, {
    ...{ name: "cluster", position: at.position, calls: callsOf(asked.map((one) => one.answer)) },
    note: noteOf({ failed, left: groups.length - asked.length }),
    changes,
    work: () => {
      const verdicts = asked.flatMap(({ group, answer }) =>
        "ops" in answer ? applyTo(at, { rows: rowsOf(group), ops: answer.ops, changes }) : [],
      )
      for (const { op, reason } of verdicts) {
        if (reason !== null && isForLater(reason)) for (const id of idsOf(op)) waiting.add(id)
      }
      const settled = records.flatMap(({ row }) =>
        needsLook(row, ages) && !waiting.has(row.id) && parts.memories.row(row.id) ? [row.id] : [],
      )
      // Behind any change of this moment: equal times mean that sleep wrote the record itself.
      parts.memories.settle(settled, parts.clock.now() + 1)
      return verdicts
    },
  })
}

/**
 * Public records first, among themselves; then groups that hold private ones, so that no public text is ever
 * written by a model that has just read a private one.
 */
async function groupsOf(
  records: readonly CorpusRecord[],
  { parts, ages, signal }: { parts: StageParts; ages: Ages; signal: AbortSignal },
): Promise<CorpusRecord[][]> {
  const { jaccard, cosine, maxCluster } = parts.settings
  const common = {
    ...{ breathe, signal },
    isOpen: ({ row }: CorpusRecord) => needsLook(row, ages),
    settings: { jaccard, cosine, maxSize: maxCluster },
  }
  const open = records.filter(({ row }) => row.private === 0)
  const ofPublic = await clustersOf({ ...common, records: open })
  const ofAll = open.length === records.length ? [] : await clustersOf({ ...common, records })
  return [...ofPublic, ...ofAll.filter((group) => group.some(({ row }) => row.private === 1))]
}

async function forgetting(at: PhaseAt): Promise<void> {
  const { parts, night, limits, position } = at
  const { journal, clock, settings } = parts
  night.at("forget")
  const ages = agesOf(clock, settings)
  const spared = journal.sparedSince(ages.now - SPARED_MS)
  const most = Math.min(CANDIDATES_MAX, 2 * limits.forgets)
  const rows = parts.memories
    .rows()
    .filter((row) => isForgettable(row, ages) && !spared.has(row.id))
    .toSorted((a, b) => a.importance - b.importance || a.accessed_at - b.accessed_at)
    .slice(0, limits.ops > 0 ? most : 0)
  const answer: PlanAnswer =
    rows.length === 0
      ? { ops: [], calls: 0 }
      : await ask(at, "forget", { instructions: forgetText, rows, ages })
  if (night.signal.aborted) return
  const changes: Change[] = []
  settlePhase(parts, night, {
    ...{ name: "forget", position, calls: answer.calls, changes },
    note: "failure" in answer ? answer.failure : null,
    work: () => {
      if ("failure" in answer) return []
      const named = new Set(answer.ops.flatMap(idsOf))
      const kept = rows.filter(({ id }) => !named.has(id))
      for (const { id } of kept) if (parts.memories.row(id)) journal.spare(id, ages.now)
      return applyTo(at, { rows, ops: answer.ops, changes })
    },
  })
}

async function kinds(at: PhaseAt): Promise<void> {
  const { parts, night, limits, position } = at
  night.at("kinds")
  const ages = agesOf(parts.clock, parts.settings)
  const all = parts.memories.rows()
  const shown = inShort(all)
  const digest = digestOf(all)
  const isKnown = parts.journal.lastDigest("kinds") === digest
  const answer: PlanAnswer =
    isKnown || limits.ops <= 0
      ? { ops: [], calls: 0 }
      : await ask(at, "kinds", {
          ...{ instructions: kindsText, rows: shown, ages, lineChars: KINDS_LINE_CHARS },
          head: `Core has ${coreChars(all)} of ${parts.settings.coreChars} characters.`,
        })
  if (night.signal.aborted) return
  const changes: Change[] = []
  let left = 0
  settlePhase(parts, night, {
    ...{ name: "kinds", position, calls: answer.calls, changes },
    note: "failure" in answer ? answer.failure : null,
    work: () => {
      if ("failure" in answer) return []
      const verdicts = applyTo(at, { rows: shown, ops: answer.ops, changes })
      left = verdicts.filter(({ reason }) => reason !== null && isForLater(reason)).length
      return verdicts
    },
    // As it stands behind the changes: the next night finds it unchanged. What the night had no room for is
    // asked anew.
    digest: () =>
      "failure" in answer || left > 0 || (answer.calls === 0 && !isKnown)
        ? null
        : digestOf(parts.memories.rows()),
  })
}

/** Core whole, then what is asked for most, then the newest, as far as one question can hold. */
function inShort(rows: readonly MemoryRow[]): MemoryRow[] {
  const order = rows.toSorted(
    (a, b) =>
      Number(b.kind === "core") - Number(a.kind === "core") || b.hits - a.hits || b.id - a.id,
  )
  let chars = 0
  return order.filter((row) => {
    chars += Math.min(row.content.length, KINDS_LINE_CHARS) + 60
    return chars <= KINDS_MAX_CHARS
  })
}

/** Changes when a record comes, goes, is changed, or is asked for twice as often. */
function digestOf(rows: readonly MemoryRow[]): string {
  const hasher = new Bun.CryptoHasher("sha256")
  for (const { id, kind, importance, content, hits } of rows) {
    hasher.update(`${id} ${kind} ${importance} ${Math.floor(Math.log2(1 + hits))} ${content}\n`)
  }
  return hasher.digest("hex")
}

const coreChars = (rows: readonly MemoryRow[]): number =>
  rows.reduce((sum, { kind, content }) => sum + (kind === "core" ? content.length : 0), 0)

/** How many characters of core these changes have added. */
const coreGrowth = (changes: readonly Change[]): number =>
  changes.reduce((sum, { before, after }) => {
    const chars = (row: MemoryRow | null) => (row?.kind === "core" ? row.content.length : 0)
    return sum + chars(after) - chars(before)
  }, 0)

const rowsOf = (records: readonly CorpusRecord[]): MemoryRow[] => records.map(({ row }) => row)

const callsOf = (answers: readonly PlanAnswer[]): number =>
  answers.reduce((sum, { calls }) => sum + calls, 0)

/** The night had no room for it, or somebody was faster: worth another look. */
const isForLater = (reason: string): boolean =>
  reason === OPS_LIMIT || reason === FORGET_LIMIT || reason.endsWith("has changed meanwhile")

function noteOf({ failed, left }: { failed: readonly string[]; left: number }): string | null {
  const notes = [
    ...new Set(failed),
    ...(left > 0 ? [`${left} groups wait for the next night`] : []),
  ]
  return notes.length === 0 ? null : notes.join("; ")
}

function ask(
  { parts, night }: PhaseAt,
  phase: "cluster" | "forget" | "kinds",
  shown: {
    instructions: string
    rows: readonly MemoryRow[]
    ages: Ages
    lineChars?: number
    head?: string
  },
): Promise<PlanAnswer> {
  const { instructions, rows, ages, lineChars, head } = shown
  const lines = rows.map((row) => lineOf(row, ages, lineChars))
  return askForPlan(parts, {
    ...{ phase, instructions: instructions.trim(), signal: night.signal },
    records: [...(head ? [head] : []), ...lines].join("\n"),
  })
}

function applyTo(
  { parts, limits }: PhaseAt,
  plan: { rows: readonly MemoryRow[]; ops: readonly PlanOp[]; changes: Change[] },
): Verdict[] {
  const { rows, ops, changes } = plan
  const { settings, clock, memories } = parts
  const coreBefore = ops.some((op) => op.op === "kind") ? coreChars(parts.memories.rows()) : 0
  const earlier = coreGrowth(changes)
  const bench: Bench = {
    ...{ memories, limits, changes, now: clock.now() },
    ...{ keepRecentMs: settings.keepRecentMs, halfLifeMs: settings.halfLifeMs },
    coreChars: settings.coreChars,
    coreUsed: () => coreBefore + coreGrowth(changes) - earlier,
    shown: new Map(rows.map((row) => [row.id, row])),
    mixed: rows.some((row) => row.private === 1),
  }
  return applyPlan(bench, ops)
}

interface PhaseEnd {
  name: string
  position: number
  calls: number
  note: string | null
  /** Applies what was planned. */
  work(): Verdict[]
  changes?: Change[]
  digest?: () => string | null
}

/** A dry run does the same work and takes it back. */
const TAKEN_BACK = Symbol("taken back")

function settlePhase(parts: StageParts, night: Night, end: PhaseEnd): void {
  const { store, journal, clock } = parts
  const { name, position, calls, note, changes = [] } = end
  const write = (verdicts: readonly Verdict[], digest: string | null): void =>
    journal.addPhase({
      ...{ runId: night.runId, stage: STAGE, name, position, calls, note, digest },
      at: clock.now(),
      ops: verdicts.map(({ op, reason }) => ({
        ...{ op: { ...op }, reason },
        outcome: reason !== null ? "refused" : night.dryRun ? "planned" : "applied",
      })),
      changes: night.dryRun ? [] : changes,
    })
  if (night.dryRun) {
    const verdicts = tried(store, end)
    store.write(() => write(verdicts, null))
  } else {
    store.write(() => {
      const verdicts = end.work()
      write(verdicts, end.digest?.() ?? null)
    })
  }
}

function tried(store: Pick<Store, "write">, { work }: PhaseEnd): Verdict[] {
  let verdicts: Verdict[] = []
  try {
    store.write(() => {
      verdicts = work()
      throw TAKEN_BACK
    })
  } catch (thrown) {
    if (thrown !== TAKEN_BACK) throw thrown
  }
  return verdicts
}
