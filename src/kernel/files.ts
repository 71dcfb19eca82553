/** The file room: checkpoints, the tool that patches, and the undo. */
import type { ChatFollower } from "../chats/follower.ts"
import type { Config } from "../config/schema.ts"
import { restoreFiles } from "../files/checkpoint-restore.ts"
import { type Checkpoints, createCheckpoints } from "../files/checkpoints.ts"
import { patchTool } from "../files/patch/tool.ts"
import { patchMachines } from "../files/patch-machines.ts"
import { localFiles } from "../files/whole-files.ts"
import type { Clock } from "../lib/clock.ts"
import type { NewId } from "../lib/id.ts"
import type { FilesRestored, FileWriter, RestoreFiles } from "../schema/files.ts"
import type { Store } from "../store/open.ts"
import type { Tool } from "../tools/tool.ts"

export interface FilesOptions {
  store: Store
  clock: Clock
  config: Config
  newId: NewId
  isRunning: (chatId: string) => boolean
}

export interface Files {
  tools: Tool[]
  checkpoints: Pick<Checkpoints, "purgeExpired">
  /** What turns wrote in a chat, newest first. */
  writers(chatId: string): FileWriter[]
  /** Takes a turn's writes back. Throws KernelError: not_found, conflict. */
  restore(chatId: string, body: RestoreFiles): Promise<FilesRestored>
  /** A chat in the bin or cleared keeps nothing. */
  follower: ChatFollower
}

export function createFiles({ store, clock, config, newId, isRunning }: FilesOptions): Files {
  const checkpoints = createCheckpoints({ store, clock, limits: limitsOf(config) })
  const files = localFiles(newId)
  const filesOf = (machine: string) => (machine === SERVER ? files : undefined)
  return {
    checkpoints,
    tools: [
      patchTool(
        patchMachines({
          server: { name: SERVER, files },
          beforeWrite: checkpoints.beforeWrite,
        }),
      ),
    ],
    writers: checkpoints.list,
    restore: (chatId, body) =>
      restoreFiles({ checkpoints, newId, isRunning, filesOf }, chatId, body),
    follower: { removed: checkpoints.removeOfChat, cleared: checkpoints.removeOfChat },
  }
}

const SERVER = "server"

const limitsOf = ({ files }: Config) => ({
  keepMs: files.checkpoint_keep,
  fileMax: files.checkpoint_file_max,
  chatMax: files.checkpoint_chat_max,
  totalMax: files.checkpoint_total_max,
})
