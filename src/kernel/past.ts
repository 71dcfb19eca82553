/** What was said in chats: stored, drawn as items, and searched. */
import { createItems, type Items } from "../chats/items.ts"
import { createMessages, type Messages } from "../chats/messages.ts"
import { createHistory, type History } from "../history/history.ts"
import type { Images } from "../images/images.ts"
import type { Clock } from "../lib/clock.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { Store } from "../store/open.ts"

export interface PastOptions {
  store: Store
  clock: Clock
  log: Log
  newId: NewId
  images: Pick<Images, "url">
}

export interface Past {
  messages: Messages
  items: Items
  history: History
}

export function createPast({ store, clock, log, newId, images }: PastOptions): Past {
  const history = createHistory({ store, clock, log })
  const messages = createMessages({ store, clock, newId, appended: history.note })
  return { history, messages, items: createItems({ messages, imageUrl: images.url }) }
}
