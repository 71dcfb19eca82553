/** Opens the session of the screen: the chat that was asked for, the last one, or a new one. */
import type { Clock } from "../../lib/clock.ts"
import type { NewId } from "../../lib/id.ts"
import type { Effort } from "../../schema/effort.ts"
import { ClientError } from "./client-error.ts"
import { createSession } from "./create-session.ts"
import type { FoundKernel } from "./find-kernel.ts"
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
  /** For the chat, whichever it is. */
  model: string | undefined
  effort: Effort | undefined
}

/** Throws ClientError with one sentence. */
export async function beginSession(options: BeginOptions): Promise<Session> {
  const { kernel, file, clock, newKey, chatId, isNew, model, effort } = options
  const last = lastChatsIn(file)
  const common: SessionOptions = {
    ...{ clock, newKey, address: kernel.address, relocate: kernel.relocate },
    client: createKernelClient({ address: kernel.address }),
    remember: (id) => last.set(kernel.name, id),
    remark: kernel.remark,
  }
  const wanted = chatId ?? (isNew ? undefined : last.get(kernel.name))
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
