/** The file room: its tools, checkpoints, and the undo. */
import type { ChatFollower } from "../chats/follower.ts"
import type { Config } from "../config/schema.ts"
import { restoreFiles } from "../files/checkpoint-restore.ts"
import { type Checkpoints, createCheckpoints } from "../files/checkpoints.ts"
import { fileTools } from "../files/file-tools.ts"
import { createLineIndex } from "../files/line-index.ts"
import { localHands } from "../files/local-hands.ts"
import { machineHands } from "../files/machine-hands.ts"
import { machineProject } from "../files/machine-project.ts"
import { patchTool } from "../files/patch/tool.ts"
import { patchMachines } from "../files/patch-machines.ts"
import type { ProjectReader } from "../files/project-docs.ts"
import { localProject } from "../files/project-readers.ts"
import { readBytes } from "../files/read-bytes.ts"
import { createScanner } from "../files/scanner.ts"
import { createSeenFiles } from "../files/seen-files.ts"
import { handsOf as handsOfCall, type ServerHands } from "../files/which-hands.ts"
import { type SetWorkdir, workdirTool } from "../files/workdir-tool.ts"
import type { Clock } from "../lib/clock.ts"
import type { NewId } from "../lib/id.ts"
import type { BytesPiece, ReadBytes } from "../schema/client-op.ts"
import type { FilesRestored, FileWriter, RestoreFiles } from "../schema/files.ts"
import type { Store } from "../store/open.ts"
import type { Machine } from "../tools/machine.ts"
import type { Tool } from "../tools/tool.ts"

export interface FilesOptions {
  store: Store
  clock: Clock
  config: Config
  newId: NewId
  machine: Machine
  isRunning: (chatId: string) => boolean
  setWorkdir: SetWorkdir
}

export interface Files {
  tools: Tool[]
  checkpoints: Pick<Checkpoints, "purgeExpired">
  /** What turns wrote in a chat, newest first. */
  writers(chatId: string): FileWriter[]
  /** A piece of a file of this machine. Throws KernelError: not_found, invalid. */
  readBytes(piece: ReadBytes): Promise<BytesPiece>
  /** Takes a turn's writes back. Throws KernelError: not_found, conflict. */
  restore(chatId: string, body: RestoreFiles): Promise<FilesRestored>
  /** Reads project files of the working machine. */
  projectReader(signal: AbortSignal): ProjectReader
  /** A chat in the bin or cleared keeps nothing. */
  follower: ChatFollower
  close(): void
}

export function createFiles({
  store,
  clock,
  config,
  newId,
  machine,
  isRunning,
  setWorkdir,
}: FilesOptions): Files {
  const checkpoints = createCheckpoints({ store, clock, limits: limitsOf(config) })
  const scanner = createScanner()
  const lineIndex = createLineIndex(scanner)
  const server: ServerHands = (call) =>
    machine.remote
      ? machineHands({ machine, newId, ...call })
      : localHands({ name: machine.name, newId, lineIndex, ...call })
  const handsOf = handsOfCall(server)
  // An undo belongs to no turn: nothing cancels it, and every script of it has its own limit.
  const { signal } = new AbortController()
  const filesOf = (name: string) =>
    name === machine.name ? server({ cwd: undefined, signal }).whole : undefined
  const { removeOfChat, beforeWrite } = checkpoints
  const seen = createSeenFiles()
  const forget = (chatId: string) => {
    removeOfChat(chatId)
    seen.forget(chatId)
  }
  return {
    checkpoints,
    tools: [
      ...fileTools({
        ...{ handsOf, scanner, beforeWrite, seen },
        readerChars: config.context.reader_result_max_chars,
      }),
      workdirTool(setWorkdir),
      patchTool(patchMachines({ handsOf, beforeWrite, seen })),
    ],
    writers: checkpoints.list,
    readBytes,
    projectReader: (signal) =>
      machine.remote ? machineProject({ machine, signal }) : localProject,
    restore: (chatId, body) =>
      restoreFiles({ checkpoints, newId, isRunning, filesOf }, chatId, body),
    follower: { removed: forget, cleared: forget },
    close: scanner.close,
  }
}

const limitsOf = ({ files }: Config) => ({
  keepMs: files.checkpoint_keep,
  fileMax: files.checkpoint_file_max,
  chatMax: files.checkpoint_chat_max,
  totalMax: files.checkpoint_total_max,
})
