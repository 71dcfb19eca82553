/** Lays trees of settings over each other and remembers who said what. */
import { isObject } from "../lib/json.ts"
import type { Path } from "./problem.ts"

export type Tree = Record<string, unknown>

/** A file, an environment variable, or the built-in defaults. */
export interface Source {
  /** As shown to people. */
  name: string
  /** Relative paths in this tree start here. */
  directory: string
  tree: Tree
}

export interface Merged {
  tree: Tree
  /** The source of the value at this path, or of the nearest mapping or list around it. */
  originOf(path: Path): Source | undefined
}

/** Mappings merge key by key; a list or a plain value replaces what was there. The last source wins. */
export function mergeSources(sources: readonly Source[]): Merged {
  const origins = new Map<string, Source>()
  let tree: Tree = {}
  for (const source of sources) {
    tree = mergeTrees(tree, source.tree)
    markOrigins(source.tree, source, { origins, path: [] })
  }
  return {
    tree,
    originOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const origin = origins.get(keyOf(path.slice(0, length)))
        if (origin) return origin
      }
      return undefined
    },
  }
}

/** A new tree; neither argument changes. */
export function mergeTrees(base: Tree, over: Tree): Tree {
  const entries = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    const below = entries.get(key)
    entries.set(key, isObject(below) && isObject(value) ? mergeTrees(below, value) : value)
  }
  // From entries, not by assignment: a key named __proto__ stays an ordinary key.
  return Object.fromEntries(entries)
}

const keyOf = (path: Path): string => path.join("\0")

function markOrigins(
  value: unknown,
  source: Source,
  at: { origins: Map<string, Source>; path: Path },
): void {
  if (at.path.length > 0) at.origins.set(keyOf(at.path), source)
  if (!isObject(value)) return
  for (const [key, inner] of Object.entries(value)) {
    markOrigins(inner, source, { origins: at.origins, path: [...at.path, key] })
  }
}
