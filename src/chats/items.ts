/** The history of a chat as drawable items. They are derived from stored messages; nothing else is kept. */
import { KernelError } from "../lib/error.ts"
import type { Item } from "../schema/item.ts"
import { itemsOfMessages } from "../schema/item-reducer.ts"
import type { Message } from "../schema/message.ts"
import { checkLimit, type Messages, type PageQuery } from "./messages.ts"
import { hasResults, openTail } from "./pairs.ts"

/** How many messages after a page are searched for the results of its last calls. */
const RESULTS_AHEAD = 64

export interface ItemsOptions {
  messages: Messages
  /** The address of a picture, by its id. */
  imageUrl: (id: string) => string
}

export type Items = ReturnType<typeof createItems>

export function createItems(options: ItemsOptions) {
  return {
    /**
     * The newest items, oldest first. `limit` counts source messages, and a message gives several items or
     * none; still only the beginning of the chat is answered by an empty page. `before` and `around` take
     * an item id (`{message_id}:{n}`) or a message id; anything else is `invalid`.
     */
    itemPage: (chatId: string, query: PageQuery): Item[] => itemPage(options, chatId, query),
  }
}

function itemPage(options: ItemsOptions, chatId: string, query: PageQuery): Item[] {
  const limit = checkLimit(query.limit)
  const around = cursorOf("around", query.around)?.messageId
  const cursor = cursorOf("before", query.before)
  let page = options.messages.page(chatId, { limit, around, before: cursor?.messageId })
  const cut = cursor && cursor.n > 0 ? cutMessage(options, chatId, cursor) : []
  // A page of messages that draw nothing must not look like the beginning of the chat.
  for (;;) {
    const items = [...draw(options, chatId, page), ...cut]
    const first = page[0]
    if (items.length > 0 || first === undefined || around !== undefined) return items
    page = options.messages.page(chatId, { limit, before: first.id })
  }
}

interface Cursor {
  messageId: string
  n: number
  text: string
}

function cursorOf(path: "before" | "around", text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined
  const colon = text.lastIndexOf(":")
  if (colon < 0) return { messageId: text, n: 0, text }
  const n = text.slice(colon + 1)
  if (!/^\d{1,6}$/.test(n)) throw badItem(path, text)
  return { messageId: text.slice(0, colon), n: Number(n), text }
}

const badItem = (path: "before" | "around", text: string): KernelError =>
  new KernelError(
    "invalid",
    `${path} must be the id of an item of this chat, and ${text} is none`,
    {
      path,
    },
  )

/** The cursor stands inside a message: its earlier items belong to the page too. */
function cutMessage(options: ItemsOptions, chatId: string, cursor: Cursor): Item[] {
  const message = options.messages.get(chatId, cursor.messageId)
  const items = message ? draw(options, chatId, [message]) : []
  const at = items.findIndex((item) => item.id === cursor.text)
  if (at < 0) throw badItem("before", cursor.text)
  return items.slice(0, at)
}

function draw(options: ItemsOptions, chatId: string, page: readonly Message[]): Item[] {
  const { messages, imageUrl } = options
  const last = page.at(-1)
  // The results of the page's last calls may lie on the next page; they draw nothing of their own.
  const isOpen = last !== undefined && openTail(page.toReversed()) !== undefined
  const ahead = isOpen ? messages.after(chatId, last.id, RESULTS_AHEAD) : []
  const end = ahead.findIndex((message) => !hasResults(message))
  const results = end < 0 ? ahead : ahead.slice(0, end)
  const items = itemsOfMessages([...page, ...results], imageUrl)
  return withRunning(items, () => messages.runningTurns(chatId))
}

/** A call without a result is cut off, unless its turn still runs. */
function withRunning(items: Item[], runningTurns: () => Set<string>): Item[] {
  const isOpen = (item: Item) => item.kind === "tool_call" && item.result === undefined
  if (!items.some(isOpen)) return items
  const running = runningTurns()
  return items.map((item) =>
    isOpen(item) && running.has(item.turn_id ?? "") ? { ...item, status: "running" } : item,
  )
}
