/**
 * The memory of one master: what is stored, how it is found, and how it is forgotten. Every way that leads to
 * a text asks whether its audience may see private records; nothing below assumes it.
 */
import type { Clock } from "../lib/clock.ts"
import { KernelError, notFound } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import { queryStems } from "../lib/stems.ts"
import { cleanText } from "../lib/text.ts"
import type { Embedder } from "../llm/embedder.ts"
import {
  type ArchivedMemory,
  MEMORY_LIMITS,
  type Memory,
  type MemoryHit,
  type MemoryKind,
  type MemoryPatch,
  type MemoryPrompt,
  type NewMemory,
  type SavedMemory,
} from "../schema/memory.ts"
import type { Store } from "../store/open.ts"
import { type Consolidation, createConsolidation } from "./consolidate.ts"
import { createEmbedding, type Embedding } from "./embedding.ts"
import { createForgetting, type Forgetting } from "./forget.ts"
import { createRecall, type Recall } from "./recall.ts"
import type { RecallHit, RecallQuery } from "./recall-engine.ts"
import { lineOf, toArchived, toHit, toMemory } from "./record.ts"
import { type Draft, rowOf, saveOnce } from "./save.ts"
import { memorySection, recallText, type Section } from "./section.ts"
import { type ArchiveTable, createArchiveTable } from "./store/archive-table.ts"
import { createMemoryTable, type MemoryRow, type MemoryTable } from "./store/memory-table.ts"
import { createRecallReads, type RecallReads } from "./store/recall-reads.ts"
import { createVectorTable } from "./store/vector-table.ts"

export interface MemorySettings {
  topK: number
  publicTopK: number
  promptBudget: number
  recallFloor: number
  halfLifeMs: number
}

export interface MemoriesOptions {
  store: Store
  clock: Clock
  log: Log
  settings: MemorySettings
  /** Absent: by words alone. */
  embedder?: Embedder | undefined
  /** Up to so many records are ranked on this thread, for tests and measurements. */
  inlineMax?: number
  /** In the transaction that erases a record: whoever keeps something of it erases that, too. */
  erased?: (id: number) => void
}

/** Who asks. Private records exist only for the master in a trusted place. */
export interface Audience {
  master: boolean
  trusted: boolean
}

export const seesPrivate = ({ master, trusted }: Audience): boolean => master && trusted

/** The owner at his own API, and the kernel's own night work. */
export const OWNER: Audience = { master: true, trusted: true }

export type Memories = ReturnType<typeof createMemories>

export function createMemories(options: MemoriesOptions) {
  const room = createRoom(options)
  const { table, archive, store, embedding } = room
  if (embedding && table.hasMoreThan(0)) embedding.sweep()
  return {
    ...{ save: (memory: NewMemory, audience: Audience) => save(room, memory, audience) },
    get: (id: number, audience: Audience): Memory => toMemory(expect(room, id, audience)),
    /** `id | kind | age | importance | content`. Throws not_found. */
    line: (id: number, audience: Audience) =>
      lineOf(expect(room, id, audience), options.clock.now()),
    /** Private records exist that this turn of the master's may not see: he should know. */
    withholds: (audience: Audience) => withholds(room, audience),
    /** Newest first, with the `before` of the next page. */
    list: (filter: ListFilter, audience: Audience) => list(room, filter, audience),
    update: (id: number, patch: MemoryPatch, audience: Audience) =>
      update(room, { id, patch }, audience),
    search: (request: SearchRequest, audience: Audience) => search(room, request, audience),
    section: (text: string, audience: Audience) => section(room, text, audience),
    /** The section for what is said now and was said just before, newest first. */
    remind: async (
      { message, previous }: { message: string; previous: readonly string[] },
      audience: Audience,
    ) => (await section(room, recallText(message, previous), audience)).text,
    /** The section, and with `explain` why each record that was looked at is in it or not. */
    explain: async (text: string, audience: Audience, explain: boolean): Promise<MemoryPrompt> => {
      const { text: shown, lines } = await section(room, text, audience)
      return { section: shown, ...(explain && { lines }) }
    },
    ...room.forgetting,
    ...room.consolidation,
    /** Last forgotten first. */
    archived: (page: { limit: number; offset: number }): ArchivedMemory[] =>
      archive.list(page).map(toArchived),
    isArchived: (id: number): boolean => archive.find(id) !== undefined,
    count: table.count,
    /** Asks again for the vectors that could not be had; settles when none waits. */
    embedMissing: async () => {
      embedding?.sweep()
      await embedding?.settled()
    },
    /** Settles when no record waits for its vector. */
    embedded: () => embedding?.settled() ?? Promise.resolve(),
    /** Nothing is recalled any more; settles when the file is let go. */
    close: async () => {
      embedding?.stop()
      await embedding?.settled()
      await room.recall.close()
    },
    write: store.write,
  }
}

/** What the functions of this file share. */
interface Room {
  store: Store
  clock: Clock
  settings: MemorySettings
  table: MemoryTable
  archive: ArchiveTable
  reads: RecallReads
  recall: Recall
  embedding: Embedding | undefined
  forgetting: Forgetting
  consolidation: Consolidation
  /** Tells after the commit that these changed. */
  changed(ids: readonly number[]): void
}

function createRoom(options: MemoriesOptions): Room {
  const { store, clock, log, settings, embedder, inlineMax } = options
  const { db } = store
  const table = createMemoryTable(db)
  const archive = createArchiveTable(db)
  const reads = createRecallReads(db)
  const recall = createRecall({
    ...{ path: store.path, reads, hasMoreThan: table.hasMoreThan },
    ...(inlineMax !== undefined && { inlineMax }),
  })
  const vectors = createVectorTable(db)
  const embedding =
    embedder &&
    createEmbedding({
      ...{ embedder, log, vectors, changed: recall.changed },
      write: (work) => store.write(work),
    })
  const changed = (ids: readonly number[]): void =>
    store.afterCommit(() => {
      recall.changed(ids)
      embedding?.fill(ids)
    })
  const forgetting = createForgetting({
    ...{ store, clock, log, table, archive, changed },
    erased: options.erased,
  })
  return {
    ...{ store, clock, settings, table, archive, reads, recall, embedding, changed, forgetting },
    consolidation: createConsolidation({
      ...{ store, clock, table, reads, forgetting, changed },
      vector: (id) => embedder && vectors.find(id, embedder.model),
    }),
  }
}

export function expectRow(table: MemoryTable, id: number, audience: Audience): MemoryRow {
  const row = table.find(id)
  // A private record is as absent as one that never was.
  if (!row || (row.private === 1 && !seesPrivate(audience))) throw notFound("memory", String(id))
  return row
}

const expect = (room: Room, id: number, audience: Audience): MemoryRow =>
  expectRow(room.table, id, audience)

/** Without `dedup` it is stored as it is, together with its neighbours in time: thousands a second. */
async function save(room: Room, memory: NewMemory, audience: Audience): Promise<SavedMemory> {
  const { store, clock, table, changed } = room
  const draft = asDraft(memory, clock.now())
  const at = { seesPrivate: seesPrivate(audience), now: clock.now() }
  const { id, merged } = await store.commit(() => {
    const saved =
      memory.dedup === false
        ? { id: table.insert(rowOf(draft)), merged: false }
        : saveOnce(room, draft, at)
    changed([saved.id])
    return saved
  })
  const neighbours = memory.dedup === false ? [] : await nearest(room, { draft, id }, audience)
  return { ...toMemory(table.find(id)!), merged, neighbours }
}

function asDraft(memory: NewMemory, now: number): Draft {
  const content = cleanText(memory.content).trim()
  if (!content) throw new KernelError("invalid", "the content is empty", { path: "content" })
  return {
    content,
    kind: memory.kind ?? "fact",
    importance: memory.importance ?? 3,
    private: memory.private ?? false,
    source: memory.source ?? null,
    createdAt: memory.created_at === undefined ? now : Date.parse(memory.created_at),
  }
}

const NEIGHBOURS = 3
const NEIGHBOURS_LOOKED_AT = 12
/** A neighbour holds so much of the telling words, or is so close in meaning. */
const NEIGHBOUR_WORDS = 1 / 3
const NEIGHBOUR_CLOSENESS = 0.35

/** What stands nearest to a record just saved, core too: there a contradiction matters most. */
async function nearest(
  room: Room,
  saved: { draft: Draft; id: number },
  audience: Audience,
): Promise<Memory[]> {
  const query = await queryOf(room, saved.draft.content, audience)
  const hits = await room.recall.find({
    ...query,
    ...{ withCore: true, alone: true, limit: NEIGHBOURS_LOOKED_AT },
  })
  const common = (id: number): number => {
    const held = new Set(room.reads.stemsOf(id).split(" "))
    return query.stems.filter((stem) => held.has(stem)).length / query.stems.length
  }
  const near = hits.filter(
    ({ id, closeness = 0 }) =>
      id !== saved.id && (closeness >= NEIGHBOUR_CLOSENESS || common(id) >= NEIGHBOUR_WORDS),
  )
  return rowsOf(room, near.slice(0, NEIGHBOURS), audience).map(({ row }) => toMemory(row))
}

const QUERY_STEMS_MAX = 96

async function queryOf(room: Room, text: string, audience: Audience): Promise<RecallQuery> {
  const { clock, settings, embedding } = room
  const unit = await embedding?.question(text)
  return {
    stems: queryStems(text.slice(0, MEMORY_LIMITS.query)).slice(0, QUERY_STEMS_MAX),
    vector: unit && embedding && { model: embedding.model, unit },
    seesPrivate: seesPrivate(audience),
    now: clock.now(),
    halfLifeMs: settings.halfLifeMs,
    limit: 0,
  }
}

/** The records of hits, as they are now: one may have gone or become private since it was ranked. */
function rowsOf(
  room: Room,
  hits: readonly RecallHit[],
  audience: Audience,
): { row: MemoryRow; hit: RecallHit }[] {
  const rows = room.table.findAll(hits.map(({ id }) => id))
  return hits.flatMap((hit) => {
    const row = rows.get(hit.id)
    return row && (row.private === 0 || seesPrivate(audience)) ? [{ row, hit }] : []
  })
}

const withholds = ({ table }: Room, audience: Audience): boolean =>
  audience.master && !seesPrivate(audience) && table.hasPrivate()

export interface SearchRequest {
  text: string
  /** Absent: as many as a prompt recalls. Whoever is not the master gets no more than that. */
  limit?: number | undefined
  /** The hits count as called to mind. */
  reinforce: boolean
}

/** Best first, none weaker than the floor. */
async function search(
  room: Room,
  { text, limit, reinforce }: SearchRequest,
  audience: Audience,
): Promise<MemoryHit[]> {
  const { clock, recall, store, table, changed, settings } = room
  const most = audience.master ? settings.topK : settings.publicTopK
  const hits = await recall.find({
    ...(await queryOf(room, text, audience)),
    limit: audience.master ? (limit ?? most) : Math.min(limit ?? most, most),
  })
  const least = (hits[0]?.score ?? 0) * settings.recallFloor
  const found = rowsOf(
    room,
    hits.filter(({ score }) => score >= least),
    audience,
  )
  if (reinforce && found.length > 0) {
    await store.commit(() => {
      for (const { row } of found) table.reinforce(row.id, clock.now())
      changed(found.map(({ row }) => row.id))
    })
  }
  return found.map(({ row, hit }) => toHit(row, hit))
}

const LOOKED_AT_MAX = 50

/** Reinforces nothing: what came up once would live for ever. */
async function section(room: Room, text: string, audience: Audience): Promise<Section> {
  const { clock, recall, table, settings } = room
  const { topK, publicTopK, recallFloor, promptBudget } = settings
  const mayPrivate = seesPrivate(audience)
  const hits =
    text.trim() === "" || !table.hasMoreThan(0)
      ? []
      : await recall.find({ ...(await queryOf(room, text, audience)), limit: LOOKED_AT_MAX })
  return memorySection({
    core: table.core(mayPrivate),
    recalled: rowsOf(
      room,
      hits.filter(({ contextOnly }) => !contextOnly),
      audience,
    ),
    topK: audience.master ? topK : publicTopK,
    floor: recallFloor,
    budget: promptBudget,
    withheld: withholds(room, audience),
    now: clock.now(),
  })
}

export interface ListFilter {
  kind?: MemoryKind | undefined
  sinceDays?: number | undefined
  before?: number | undefined
  limit: number
}

const DAY_MS = 24 * 3600 * 1000

function list(
  room: Room,
  filter: ListFilter,
  audience: Audience,
): { memories: MemoryRow[]; nextBefore: number | undefined } {
  const { sinceDays, limit } = filter
  const rows = room.table.list({
    ...{ kind: filter.kind, before: filter.before, limit: limit + 1 },
    since: sinceDays === undefined ? undefined : room.clock.now() - sinceDays * DAY_MS,
    seesPrivate: seesPrivate(audience),
  })
  const memories = rows.slice(0, limit)
  return { memories, nextBefore: rows.length > limit ? memories.at(-1)?.id : undefined }
}

/** Throws not_found, also for a private record that this audience may not know of. */
function update(
  room: Room,
  { id, patch }: { id: number; patch: MemoryPatch },
  audience: Audience,
): Memory {
  const { store, clock, table, changed } = room
  return store.write(() => {
    const row = expect(room, id, audience)
    const content = patch.content === undefined ? row.content : cleanText(patch.content).trim()
    if (!content) throw new KernelError("invalid", "the content is empty", { path: "content" })
    const isPrivate = patch.private ?? row.private === 1
    const next: MemoryRow = {
      ...row,
      content,
      kind: patch.kind ?? row.kind,
      importance: patch.importance ?? row.importance,
      private: isPrivate ? 1 : 0,
      updated_at: content === row.content ? row.updated_at : clock.now(),
      consolidated_at: null,
    }
    table.update(next, row)
    changed([id])
    return toMemory(next)
  })
}
