/** What a session is made of: the way to the kernel, and what its client brings. */
import type { Clock } from "../../lib/clock.ts"
import type { NewId } from "../../lib/id.ts"
import type { NewChat } from "../../schema/chat.ts"
import type { RequestSeat, Requests } from "./hands/requests.ts"
import type { KernelAddress, KernelClient } from "./kernel-client.ts"

export interface SessionOptions {
  client: KernelClient
  /** Where the client calls now, to be shown. */
  address: () => KernelAddress
  clock: Clock
  newKey: NewId
  /** The chat to begin with; a draft when absent. */
  chatId?: string | undefined
  /** How a draft is set up. */
  draft?: NewChat | undefined
  /** Told which chat is open, to begin with it the next time. */
  remember?: ((chatId: string) => void) | undefined
  /** Looks for the kernel anew before each try to reach it again. */
  relocate?: (() => Promise<void>) | undefined
  /** Hands on this machine; without them the kernel is told that there are none. */
  hands?: ((seat: RequestSeat) => Requests) | undefined
  /** A sentence to begin with. */
  remark?: string | undefined
  silenceMs?: number | undefined
  retryMs?: readonly number[] | undefined
}
