/** What a turn is told before it starts, computed once at admission and never changed afterwards. */
import type { Effort } from "../schema/effort.ts"
import type { ExtraTool } from "../schema/send.ts"
import type { AccessLayer } from "../tools/reach.ts"
import type { TurnIdentity } from "../tools/tool.ts"

export interface TurnSpec {
  id: string
  chatId: string
  /** `message`, `cron`, `notify` … */
  source: string
  identity: TurnIdentity
  sender: string | undefined
  anchor: string | undefined
  /** Model of this turn alone, stronger than the chat's. */
  model: string | undefined
  /** The surface's default, weaker than the chat's. */
  surfaceModel: string | undefined
  effort: Effort | undefined
  surfaceEffort: Effort | undefined
  ultrathink: boolean
  maxTokens: number | undefined
  uncapped: boolean
  clientContext: string | undefined
  brief: boolean
  /** A tool must be admitted by each of these lists. */
  access: readonly AccessLayer[]
  /** The tool set of this turn alone; null for none, undefined for the chat's. */
  toolset: string | null | undefined
  /** The client answers `list_up`. */
  projectDocs: boolean
  /** Tools of this turn alone, run by the client that declared them. */
  extraTools: readonly ExtraTool[]
}

export const SOURCE_MESSAGE = "message"

/** People's messages of this turn bear headers. */
export const isHeaded = ({ anchor, sender }: Pick<TurnSpec, "anchor" | "sender">): boolean =>
  anchor !== undefined || sender !== undefined
