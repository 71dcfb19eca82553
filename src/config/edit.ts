/** Changes a YAML file of settings in place: comments, order and everything else of it stay as they are. */

import { dirname } from "node:path"
import type { Environment } from "../lib/environment.ts"
import { isObject } from "../lib/json.ts"
import { buildConfig, type LoadedConfig } from "./build.ts"
import { parseYamlTree } from "./file.ts"
import { mergeSources, type Source, type Tree } from "./merge.ts"
import { environmentSources } from "./overlay.ts"
import { pathText } from "./problem.ts"
import { Config } from "./schema.ts"

/** A file as it is or as it would be. */
export interface ConfigText {
  path: string
  text: string
}

/** Sets `value`, or removes what is there when it is undefined. */
export interface Edit {
  path: readonly string[]
  value: unknown
}

/** The text with these edits. A mapping on the way that is missing or empty is made. */
export async function editConfigText(file: ConfigText, edits: readonly Edit[]): Promise<string> {
  if (edits.length === 0) return file.text
  await parseYamlTree(file.text, file.path)
  const { isScalar, parseDocument } = await import("yaml")
  const document = parseDocument(file.text, { logLevel: "error" })
  for (const { path, value } of edits) {
    for (let length = 1; length < path.length; length++) {
      const parent = path.slice(0, length)
      // A section that holds nothing but comments is null, and nothing can be put into that.
      const there = document.getIn(parent, true)
      if (there !== undefined && !(isScalar(there) && there.value === null)) continue
      const made = document.createNode({})
      made.commentBefore = isScalar(there) ? (there.commentBefore ?? there.comment) : undefined
      document.setIn(parent, made)
    }
    if (value === undefined) document.deleteIn(path)
    else document.setIn(path, document.createNode(value))
  }
  return document.toString({ lineWidth: 0 })
}

/** The values of `wanted` that `tree` does not have; lists and plain values count as a whole. */
export function missingFrom(tree: Tree, wanted: Tree, path: readonly string[] = []): Edit[] {
  return Object.entries(wanted).flatMap(([key, value]): Edit[] => {
    const own = [...path, key]
    const there = tree[key] ?? undefined
    if (there === undefined) return value === undefined ? [] : [{ path: own, value }]
    return isObject(there) && isObject(value) ? missingFrom(there, value, own) : []
  })
}

export const editName = ({ path }: Edit): string => pathText(path)

/** The configuration that these texts would be as files, the environment over them. */
export async function buildFromTexts(
  texts: readonly ConfigText[],
  { environment, cwd }: { environment: Environment; cwd: string },
): Promise<LoadedConfig> {
  const sources: Source[] = await Promise.all(
    texts.map(async (file) => ({
      name: file.path,
      directory: dirname(file.path),
      tree: await parseYamlTree(file.text, file.path),
    })),
  )
  const { tree } = mergeSources(sources)
  const overlay = await environmentSources({ environment, cwd, schema: Config, tree })
  return buildConfig({
    sources: [...sources, ...overlay],
    environment,
    directory: sources[0]?.directory ?? cwd,
  })
}
