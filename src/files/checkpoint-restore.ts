/**
 * Takes back what a turn wrote: files that it made go, files that it changed or removed have their former
 * content. A file that somebody changed since is left alone. An undo is a checkpoint itself.
 */
import { errorText, KernelError } from "../lib/error.ts"
import type { NewId } from "../lib/id.ts"
import { sha256 } from "../lib/sha256.ts"
import type {
  ClientRestore,
  FileAt,
  FilesRestored,
  RestoreConflict,
  RestoreFiles,
} from "../schema/files.ts"
import type { Checkpoints } from "./checkpoints.ts"
import { CLIENT } from "./client-files.ts"
import type { CheckpointRow } from "./store.ts"
import type { WholeFiles } from "./whole-files.ts"

export interface RestoreOptions {
  checkpoints: Pick<Checkpoints, "table" | "beforeWrite" | "markRestored">
  newId: NewId
  /** A turn runs or waits in this chat. */
  isRunning(chatId: string): boolean
  /** Undefined for a machine that the kernel does not reach now. */
  filesOf(machine: string): WholeFiles | undefined
}

/**
 * @throws KernelError "not_found" when no such turn wrote a file that is still kept, "conflict" while a turn
 * of the chat may write
 */
export async function restoreFiles(
  options: RestoreOptions,
  chatId: string,
  { turn_id, force = false }: RestoreFiles,
): Promise<FilesRestored> {
  if (options.isRunning(chatId)) {
    throw new KernelError("conflict", "a turn of this chat runs and may write; cancel it or wait")
  }
  const { table, markRestored } = options.checkpoints
  const turnId = turn_id ?? table.lastTurn(chatId)
  const rows = turnId === undefined ? [] : table.ofWriter(chatId, turnId)
  if (turnId === undefined || rows.length === 0) throw nothingKept(turn_id)

  const restoreId = options.newId()
  const undo: Undo = { ...options, chatId, restoreId, force, result: emptyResult(turnId) }
  for (const row of rows) await restoreFile(undo, row)

  const { result } = undo
  const touched = result.restored.length + result.removed.length > 0
  if (result.conflicts.length === 0) markRestored(chatId, turnId)
  return { ...result, restore_id: touched ? restoreId : null }
}

const nothingKept = (turnId: string | undefined): KernelError =>
  new KernelError(
    "not_found",
    turnId === undefined
      ? "no turn of this chat wrote a file whose former content is still kept"
      : `nothing is kept of turn ${turnId}: it wrote no file, or too long ago`,
  )

interface Undo extends RestoreOptions {
  chatId: string
  restoreId: string
  force: boolean
  result: Lists
}

type Lists = Omit<FilesRestored, "restore_id"> & {
  restored: FileAt[]
  removed: FileAt[]
  unchanged: FileAt[]
  conflicts: RestoreConflict[]
  client: ClientRestore[]
}

const emptyResult = (turn_id: string): Lists => ({
  turn_id,
  ...{ restored: [], removed: [], unchanged: [], conflicts: [], client: [] },
})

async function restoreFile(undo: Undo, row: CheckpointRow): Promise<void> {
  const at: FileAt = { machine: row.machine, path: row.path }
  const conflict = (reason: RestoreConflict["reason"], message: string) =>
    void undo.result.conflicts.push({ ...at, reason, message })

  if (row.former === "dropped") {
    return conflict("not_kept", "Its former content was too large to keep.")
  }
  const former = row.former_content ? await Bun.zstdDecompress(row.former_content) : undefined
  if (row.machine === CLIENT) return void undo.result.client.push(forClient(row, former))
  const files = undo.filesOf(row.machine)
  if (!files) return conflict("failed", `The machine ${row.machine} is not reached now.`)
  try {
    await restoreOn(files, { undo, row, at, former })
  } catch (error) {
    conflict("failed", errorText(error))
  }
}

const forClient = (row: CheckpointRow, former: Uint8Array | undefined): ClientRestore => ({
  path: row.path,
  former: former === undefined ? null : former.toBase64(),
  expect_sha256: row.left_sha256,
})

interface OneFile {
  undo: Undo
  row: CheckpointRow
  at: FileAt
  former: Uint8Array | undefined
}

async function restoreOn(files: WholeFiles, one: OneFile): Promise<void> {
  const { undo, row, at, former } = one
  const { result, checkpoints } = undo
  const current = await files.read(row.path)
  const hash = current === undefined ? null : sha256(current.bytes)
  if (hash === row.former_sha256) return void result.unchanged.push(at)

  // A write that was interrupted left what stood there before it.
  const isOurs = hash === row.left_sha256 || hash === row.replaced_sha256
  if (!isOurs && !undo.force) {
    const message =
      current === undefined
        ? "The file was removed since; force brings it back."
        : "The file was changed since; force overwrites it."
    return void result.conflicts.push({ ...at, reason: "changed_since", message })
  }
  await checkpoints.beforeWrite({
    ...{ chatId: undo.chatId, writerId: undo.restoreId, writer: "restore" },
    ...{ ...at, former: current?.bytes, next: former },
    ...(current?.mode !== undefined && { formerMode: current.mode }),
  })
  if (former === undefined) {
    await files.remove(row.path)
    result.removed.push(at)
    return
  }
  const mode = row.former_mode === null ? {} : { mode: row.former_mode }
  await files.write(row.path, former, { ...mode, expectSha256: hash })
  result.restored.push(at)
}
