/** Chats with what was said in them on a real file, and the search over it. */
import { createHistory } from "../../src/history/history.ts"
import type { Clock } from "../../src/lib/clock.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { HistoryQuery } from "../../src/schema/history-search.ts"
import type { Block } from "../../src/schema/message.ts"
import { createRig, drafts, text } from "../chats/rig.ts"

export type HistoryRig = ReturnType<typeof historyRig>

/** By the clock of the rig no time passes by itself: a search waits for the index however slow the disk is. */
export function historyRig(more: { clock?: Clock } = {}) {
  const rig = createRig()
  const { store, chats, messages } = rig
  const clock = more.clock ?? rig.clock
  const history = createHistory({ store, clock, log: silentLog })
  const add = (chatId: string, role: "user" | "assistant", blocks: Block[]) =>
    messages.append([drafts(chatId)[role](...blocks)])[0]!
  const search = (query: string, more: Partial<HistoryQuery> = {}) =>
    history.search({ query, match: "text", limit: 100, context: 0, includeService: false, ...more })
  return {
    ...rig,
    history,
    newChat: (title = ""): string => chats.create({ title }).id,
    add,
    say: (chatId: string, what: string) => add(chatId, "user", [text(what)]),
    sayAs: (sender: string, chatId: string, what: string) =>
      messages.append([{ ...drafts(chatId).user(text(what)), master: false, sender }])[0]!,
    answer: (chatId: string, what: string) => add(chatId, "assistant", [text(what)]),
    search,
    /** What the hits show, newest first. */
    found: async (query: string, more: Partial<HistoryQuery> = {}): Promise<string[]> =>
      (await search(query, more)).hits.map((hit) => hit.text),
    dispose: async () => {
      await history.close()
      rig.close()
    },
  }
}
