/** The state of a session as it is shown, out of the parts that know it. */
import type { ModelCatalogue } from "../../schema/catalogue.ts"
import type { Item } from "../../schema/item.ts"
import type { ChatSpend } from "../../schema/stats.ts"
import type { ChatListing } from "./chat-list.ts"
import type { Room } from "./room.ts"
import type { ChatUsage, SessionState } from "./session.ts"

export interface PictureParts
  extends Pick<SessionState, "connection" | "kernel" | "notice" | "pending"> {
  room: Room
  list: ChatListing
  items: readonly Item[]
  usage: ChatUsage
  models: ModelCatalogue | undefined
}

const NOTHING: readonly never[] = []

export const NO_USAGE: ChatUsage = {
  promptTokens: 0,
  completionTokens: 0,
  cost: null,
  contextTokens: undefined,
}

export const usageOf = ({ total, context }: ChatSpend): ChatUsage => ({
  promptTokens: total.prompt_tokens,
  completionTokens: total.completion_tokens,
  cost: total.requests > total.unpriced_requests ? total.cost : null,
  contextTokens: context.tokens > 0 ? context.tokens : undefined,
})

export function drawState(parts: PictureParts): SessionState {
  const { room, list, models, items, usage, connection, kernel, notice, pending } = parts
  const { chat, view, settings } = room
  const { model, effort } = chat ?? settings
  const name = model ?? models?.default ?? ""
  return {
    ...{ connection, kernel, models, notice, chat, items, usage, pending },
    ...{ chats: list.chats(), folders: list.folders(), filter: list.filter() },
    hasOlder: view?.hasOlder() ?? false,
    turns: view?.turns() ?? NOTHING,
    failures: view?.failures() ?? NOTHING,
    activity: view?.activity(),
    model: name,
    effort: effort ?? models?.efforts[name] ?? models?.effort_default ?? "mid",
  }
}

/** Joins history and unconfirmed words; gives the same array for the same parts. */
export function createItemJoin(): (
  shown: readonly Item[],
  echoes: readonly Item[],
) => readonly Item[] {
  let last: { shown: readonly Item[]; echoes: readonly Item[]; all: readonly Item[] } | undefined
  return (shown, echoes) => {
    if (echoes.length === 0) return shown
    const isSame = last?.shown === shown && isEqual(last.echoes, echoes)
    if (!last || !isSame) last = { shown, echoes, all: [...shown, ...echoes] }
    return last.all
  }
}

const isEqual = (a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])
