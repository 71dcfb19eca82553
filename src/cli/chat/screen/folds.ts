/** Which items show their inside: a choice for each kind, and single items that differ from it. */
import type { Item } from "../../../schema/item.ts"
import { itemKey } from "./line-cache.ts"

export interface Folds {
  isOpen(item: Item): boolean
  toggle(item: Item): void
  /** All items of a kind, and those still to come. */
  toggleKind(kind: Item["kind"]): void
  clear(): void
}

/** Everything starts folded. */
export function createFolds(): Folds {
  const openKinds = new Set<Item["kind"]>()
  const exceptions = new Map<string, Item["kind"]>()
  const isOpen = (item: Item) => openKinds.has(item.kind) !== exceptions.has(itemKey(item))
  return {
    isOpen,
    toggle(item) {
      const key = itemKey(item)
      if (!exceptions.delete(key)) exceptions.set(key, item.kind)
    },
    toggleKind(kind) {
      if (!openKinds.delete(kind)) openKinds.add(kind)
      for (const [key, of] of exceptions) if (of === kind) exceptions.delete(key)
    },
    clear: () => exceptions.clear(),
  }
}
