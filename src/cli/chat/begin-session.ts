/** Opens the session of the screen: the chat that was asked for, the last one, or a new one. */

import { basename } from "node:path"
import type { Clock } from "../../lib/clock.ts"
import type { Environment } from "../../lib/environment.ts"
import type { NewId } from "../../lib/id.ts"
import type { NewChat } from "../../schema/chat.ts"
import type { Effort } from "../../schema/effort.ts"
import { ClientError } from "./client-error.ts"
import { createSession } from "./create-session.ts"
import type { FoundKernel } from "./find-kernel.ts"
import { createHands } from "./hands/create-hands.ts"
import { createKernelClient } from "./kernel-client.ts"
import { lastChatsIn } from "./last-chat.ts"
import type { Session } from "./session.ts"
import type { SessionOptions } from "./session-options.ts"

export interface BeginOptions {
  kernel: FoundKernel
  /** Where the last chats are kept. */
  file: string
  clock: Clock
  newKey: NewId
  /** Absent: the last one. */
  chatId: string | undefined
  isNew: boolean
  /** What operations of the kernel run with, and where what is always allowed is kept. */
  environment: Environment
  permissionsFile: string
  /** A coding session: a new chat that works in this folder. */
  code: string | undefined
  /** For the chat, whichever it is. */
  model: string | undefined
  effort: Effort | undefined
}

/** Throws ClientError with one sentence. */
export async function beginSession(options: BeginOptions): Promise<Session> {
  const { kernel, file, clock, newKey, chatId, isNew, model, effort, code } = options
  const last = lastChatsIn(file)
  const client = createKernelClient({ address: kernel.address })
  const { environment, permissionsFile } = options
  const cwd = code ?? process.cwd()
  const common: SessionOptions = {
    ...{ clock, newKey, address: kernel.address, relocate: kernel.relocate },
    client,
    hands: createHands({ client, environment, permissionsFile, cwd, newId: newKey }),
    ...(code !== undefined && { draft: codingChat(code) }),
    remember: (id) => last.set(kernel.name, id),
    remark: kernel.remark,
  }
  const wanted = chatId ?? (isNew || code !== undefined ? undefined : last.get(kernel.name))
  const session = await createSession({ ...common, chatId: wanted }).catch((error: unknown) => {
    // The last chat is a convenience: when it is gone a new one does as well.
    const isGone = error instanceof ClientError && error.code === "not_found"
    if (!isGone || chatId !== undefined || wanted === undefined) throw error
    return createSession(common)
  })
  if (chatId === undefined && session.state().chat?.deleted_at != null) await session.newChat()
  try {
    if (model !== undefined) await session.setModel(model)
    if (effort !== undefined) await session.setEffort(effort)
    return session
  } catch (error) {
    session.close()
    throw error
  }
}

/** Its project is named after its folder; relative paths count from there, on this machine. */
const codingChat = (folder: string): NewChat => ({
  ...{ workdir: folder, workdir_on: "client", project: basename(folder) },
})
