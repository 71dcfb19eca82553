/**
 * Checkpoints: before a turn's first write to a file its former bytes are kept, so that the turn's writes can
 * be taken back. Bounded per file, per chat and in all; the oldest turn goes first, and whole.
 */
import { type Clock, isoTime } from "../lib/clock.ts"
import { sha256 } from "../lib/sha256.ts"
import type { FileWriter, WrittenFile } from "../schema/files.ts"
import type { Store } from "../store/open.ts"
import {
  type CheckpointEntry,
  type CheckpointKey,
  type CheckpointRow,
  type CheckpointTable,
  createCheckpointTable,
} from "./store.ts"

/** Files of one list. */
const LIST_MAX = 1000

/** Bytes; `keepMs` in milliseconds. */
export interface CheckpointLimits {
  keepMs: number
  /** Largest file that is kept. */
  fileMax: number
  /** Of one chat, compressed. */
  chatMax: number
  /** Of all chats, compressed. */
  totalMax: number
}

/** One write that is about to happen. */
export interface FileWrite {
  chatId: string
  /** The turn, or the id of an undo. */
  writerId: string
  /** A turn unless said otherwise. */
  writer?: "turn" | "restore"
  /** `client`, `server`, or the ssh host. */
  machine: string
  /** Absolute. */
  path: string
  /** What the file holds now; undefined when there is none. */
  former: Uint8Array | undefined
  /** Its permission bits, where they are known. */
  formerMode?: number
  /** What it will hold; undefined when it is removed. */
  next: Uint8Array | undefined
}

/** Called before every write of a tool, with all that one call will write; the writes wait for it. */
export type BeforeWrite = (...writes: FileWrite[]) => Promise<void>

export interface CheckpointsOptions {
  store: Store
  clock: Clock
  limits: CheckpointLimits
}

export interface Checkpoints {
  beforeWrite: BeforeWrite
  readonly table: CheckpointTable
  /** An undo took back all that this writer wrote. */
  markRestored(chatId: string, writerId: string): void
  /** What turns wrote, newest first. */
  list(chatId: string): FileWriter[]
  /** Of a chat that went to the bin or was cleared; part of the caller's transaction. */
  removeOfChat(chatId: string): void
  /** Removes what is older than the limit; the number of files. */
  purgeExpired(): number
}

export function createCheckpoints({ store, clock, limits }: CheckpointsOptions): Checkpoints {
  const table = createCheckpointTable(store.db)
  const parts: Parts = { store, clock, limits, table }
  return {
    table,
    beforeWrite: (...writes) => beforeWrite(parts, writes),
    markRestored: (chatId, writerId) =>
      store.write(() => void table.markRestored(chatId, writerId, clock.now())),
    list: (chatId) => writersOf(table.ofChat(chatId, LIST_MAX)),
    removeOfChat: (chatId) => void table.removeOfChat(chatId),
    purgeExpired: () => store.write(() => table.removeOlder(clock.now() - limits.keepMs)),
  }
}

interface Parts extends CheckpointsOptions {
  table: CheckpointTable
}

const sha256OrNull = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : sha256(bytes)

async function beforeWrite(parts: Parts, writes: readonly FileWrite[]): Promise<void> {
  const { store, table, limits } = parts
  // Only the first write of a turn keeps anything; the later ones say what now stands there.
  const kept = await Promise.all(
    writes.map((write) =>
      table.has(keyOf(write)) ? undefined : keep(write.former, limits.fileMax),
    ),
  )
  store.write(() => {
    for (const [index, write] of writes.entries()) {
      // Two calls of one step may write the same file at once.
      if (!updateLeft(table, write)) insert(parts, write, kept[index] ?? NOT_KEPT)
    }
  })
}

const updateLeft = (table: CheckpointTable, write: FileWrite): boolean =>
  table.updateLeft(keyOf(write), sha256OrNull(write.former), sha256OrNull(write.next))

function insert({ table, clock, limits }: Parts, write: FileWrite, kept: Kept): void {
  const [former, left] = [sha256OrNull(write.former), sha256OrNull(write.next)]
  const key = keyOf(write)
  table.insert({
    ...key,
    ...kept,
    writer: write.writer ?? "turn",
    former_sha256: former,
    former_mode: write.formerMode ?? null,
    replaced_sha256: former,
    left_sha256: left,
    created_at: clock.now(),
    restored_at: null,
  })
  makeRoom(table, limits, key)
}

const keyOf = ({ chatId, writerId, machine, path }: FileWrite): CheckpointKey => ({
  ...{ chat_id: chatId, writer_id: writerId },
  ...{ machine, path },
})

type Kept = Pick<CheckpointRow, "former" | "former_content">

/** Also of a row that went between the look and the write, with its chat or by its age. */
const NOT_KEPT: Kept = { former: "dropped", former_content: null }

async function keep(former: Uint8Array | undefined, fileMax: number): Promise<Kept> {
  if (former === undefined) return { former: "absent", former_content: null }
  if (former.byteLength > fileMax) return NOT_KEPT
  return { former: "kept", former_content: await Bun.zstdCompress(former) }
}

/**
 * Whole turns go, the oldest first. The one that writes now stays, since it is what an undo means; when it
 * alone is too much, this file's bytes go.
 */
function makeRoom(table: CheckpointTable, limits: CheckpointLimits, current: CheckpointKey): void {
  const sizes = table.sizes()
  const sum = (of: typeof sizes) => of.reduce((bytes, each) => bytes + each.bytes, 0)
  let total = sum(sizes)
  let ofChat = sum(sizes.filter(({ chat_id }) => chat_id === current.chat_id))
  for (const { chat_id, writer_id, bytes } of sizes) {
    if (total <= limits.totalMax && ofChat <= limits.chatMax) return
    const ours = chat_id === current.chat_id
    if (ours && writer_id === current.writer_id) continue
    if (total <= limits.totalMax && !ours) continue
    table.removeWriter(chat_id, writer_id)
    total -= bytes
    if (ours) ofChat -= bytes
  }
  if (total > limits.totalMax || ofChat > limits.chatMax) table.dropContent(current)
}

function writersOf(entries: readonly CheckpointEntry[]): FileWriter[] {
  const writers = new Map<string, FileWriter>()
  for (const entry of entries) {
    const writer = writers.get(entry.writer_id) ?? writerOf(entry)
    writer.files.unshift(fileOf(entry))
    // Entries come newest first; the writer began with the oldest.
    writer.at = isoTime(entry.created_at)
    writers.set(entry.writer_id, writer)
  }
  return [...writers.values()]
}

const writerOf = ({ writer_id, writer, created_at, restored_at }: CheckpointEntry): FileWriter => ({
  ...{ id: writer_id, kind: writer, at: isoTime(created_at), files: [] },
  restored_at: restored_at === null ? null : isoTime(restored_at),
})

const fileOf = ({ machine, path, former, left_sha256 }: CheckpointEntry): WrittenFile => ({
  ...{ machine, path, restorable: former !== "dropped" },
  change: left_sha256 === null ? "removed" : former === "absent" ? "made" : "changed",
})
