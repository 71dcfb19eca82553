/** How project files are looked for and read: on this machine, and on the client's by its own operations. */
import { access } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Ask, listedLevels, readClientPiece } from "./client-files.ts"
import { readLocal } from "./local-hands.ts"
import type { ProjectReader } from "./project-docs.ts"

/** Levels that are looked at from a folder upwards. */
const LEVELS_MAX = 64

export const localProject: ProjectReader = {
  listUp: async (path, names) => {
    const levels = []
    for (let dir = path; levels.length < LEVELS_MAX; dir = dirname(dir)) {
      const there = await Promise.all(names.map((name) => isThere(join(dir, name))))
      levels.push({ dir, found: names.filter((_, at) => there[at]) })
      if (dirname(dir) === dir) break
    }
    return levels
  },
  read: (path, size) => readLocal(path, { offset: 0, size }).catch(() => undefined),
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** `ask` rejects for what the client refuses or does not know: then there is nothing. */
export const clientProject = (ask: Ask): ProjectReader => ({
  listUp: async (path, names) =>
    listedLevels(await ask({ action: "list_up", path, names: [...names] })) ?? [],
  read: (path, size) => readClientPiece(ask, path, { offset: 0, size }).catch(() => undefined),
})
