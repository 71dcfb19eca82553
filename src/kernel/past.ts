/** What was said in chats: stored, drawn as items, and searched. */
import { createItems, type Items } from "../chats/items.ts"
import { createMessages, type Messages } from "../chats/messages.ts"
import { createSummaries, type Summaries } from "../chats/summaries.ts"
import { createHistory, type History } from "../history/history.ts"
import type { Images } from "../images/images.ts"
import type { Clock } from "../lib/clock.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { ChatEvent } from "../schema/event.ts"
import type { Store } from "../store/open.ts"

export interface PastOptions {
  store: Store
  clock: Clock
  log: Log
  newId: NewId
  images: Pick<Images, "url">
  emit(chatId: string, event: ChatEvent): void
}

export interface Past {
  messages: Messages
  items: Items
  history: History
  summaries: Summaries
}

export function createPast({ store, clock, log, newId, images, emit }: PastOptions): Past {
  const history = createHistory({ store, clock, log })
  const messages = createMessages({ store, clock, newId, appended: history.note })
  const summaries = createSummaries({ store, messages, emit })
  return { history, messages, summaries, items: createItems({ messages, imageUrl: images.url }) }
}
