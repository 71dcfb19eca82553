/** Keys of earlier versions: each loads with one warning, and where its meaning lives on it is carried over. */
import { isObject } from "../lib/json.ts"
import type { Tree } from "./merge.ts"

interface Retired {
  path: string
  advice: string
  /** Carries the value over to a key beside it, unless that one is written too. */
  becomes?: { key: string; convert: (value: unknown) => unknown }
}

const CHARS_PER_TOKEN = 4

const moved = (key: string): Retired => ({
  path: `sleep.${key}`,
  advice: `is retired and has no effect; use sleep.memory.${key}`,
})

const charsOf = (section: string, key: string): Retired => ({
  path: `${section}.${key}_chars`,
  advice: `is read as characters / ${CHARS_PER_TOKEN}; use ${section}.${key}_tokens`,
  becomes: {
    key: `${key}_tokens`,
    convert: (value) => (typeof value === "number" ? Math.floor(value / CHARS_PER_TOKEN) : value),
  },
})

export const RETIRED: readonly Retired[] = [
  {
    path: "telegram",
    advice: "is retired and has no effect; the surface is a module with its own configuration",
  },
  {
    path: "llm.vision_model",
    advice: "is retired and has no effect; pictures go to models marked multimodal in llm.models",
  },
  ...[
    "model",
    "min_memories",
    "max_ops",
    "max_forget",
    "keep_recent",
    "archive_ttl",
    "cluster_jaccard",
    "cluster_cosine",
    "max_cluster",
  ].map(moved),
  { path: "sleep.interval", advice: "is retired and has no effect; use sleep.at" },
  ...["context", "context.telegram", "context.cron"].flatMap((section) => [
    charsOf(section, "compact_after"),
    charsOf(section, "compact_keep"),
  ]),
]

/** The tree without its retired keys, and a warning for each of them. The argument does not change. */
export function retireKeys(tree: Tree): { tree: Tree; warnings: string[] } {
  const copy = structuredClone(tree)
  const warnings: string[] = []
  for (const { path, advice, becomes } of RETIRED) {
    const keys = path.split(".")
    const key = keys.pop()!
    const parent = keys.reduce<unknown>(
      (inner, name) => (isObject(inner) ? inner[name] : undefined),
      copy,
    )
    if (!isObject(parent) || !Object.hasOwn(parent, key)) continue
    if (becomes) parent[becomes.key] ??= becomes.convert(parent[key])
    delete parent[key]
    warnings.push(`${path} ${advice}`)
    if (Object.keys(parent).length === 0) dropEmpty(copy, keys)
  }
  return { tree: copy, warnings }
}

/** A section that held retired keys only is gone with them. */
function dropEmpty(tree: Tree, keys: string[]): void {
  const [section] = keys
  const value = section === undefined ? undefined : tree[section]
  if (
    section !== undefined &&
    section !== "llm" &&
    isObject(value) &&
    Object.keys(value).length === 0
  ) {
    delete tree[section]
  }
}
