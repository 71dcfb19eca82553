/**
 * The drawn lines of items. Only what changed is drawn anew: an item that is the same object, at the same
 * width, folded the same way, keeps its lines. Items far from the window lose theirs first.
 */
import type { MarkdownTheme } from "@earendil-works/pi-tui"
import type { Item } from "../../../schema/item.ts"
import { createItemView, type ItemLook, type ItemView } from "./item-view.ts"
import type { Theme } from "./theme.ts"

/** Several windows full; a chat of thousands of messages keeps the rest as items only. */
const ENTRIES_MAX = 400

interface Entry {
  item: Item
  look: ItemLook
  view: ItemView
  lines: readonly string[]
}

export interface LineCache {
  linesOf(item: Item, look: ItemLook): readonly string[]
  clear(): void
}

/** Stays the same while an item grows and when its call is answered. */
export const itemKey = (item: Item): string =>
  item.kind === "tool_call" ? `call ${item.call_id}` : item.id

export function createLineCache(theme: Theme, markdown: MarkdownTheme): LineCache {
  const entries = new Map<string, Entry>()
  return {
    linesOf(item, look) {
      const key = itemKey(item)
      const known = entries.get(key)
      if (known && known.item === item && sameLook(known.look, look)) {
        if (entries.size >= ENTRIES_MAX) touch(entries, key, known)
        return known.lines
      }
      const view = known?.view ?? createItemView(theme, markdown)
      const entry = { item, look, view, lines: view(item, look) }
      touch(entries, key, entry)
      forgetOldest(entries)
      return entry.lines
    },
    clear: () => entries.clear(),
  }
}

/** A Map keeps the order of insertion: what is used last stands last. */
function touch(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.delete(key)
  entries.set(key, entry)
}

function forgetOldest(entries: Map<string, Entry>): void {
  if (entries.size <= ENTRIES_MAX) return
  const oldest = entries.keys().next()
  if (!oldest.done) entries.delete(oldest.value)
}

const sameLook = (a: ItemLook, b: ItemLook): boolean =>
  a.width === b.width && a.open === b.open && a.waiting === b.waiting && a.selected === b.selected
