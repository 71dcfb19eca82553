/**
 * What the user allowed the agent to do on this machine. Only what was shown is allowed again: the same
 * command in the same project, or writing within it. `allow_session` lives as long as this client,
 * `allow_always` in a file, by project.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { isObject, tryParseJson } from "../../../lib/json.ts"

/** What one decision covers, such as `write` or `shell: make test`. */
export type Grant = string

export interface Permissions {
  allows(project: string, grant: Grant): boolean
  /** Throws when the file cannot be written: `always` must not turn into `until tomorrow` unseen. */
  remember(project: string, grant: Grant, scope: "session" | "always"): void
}

/** Grants that one project keeps; the oldest is forgotten. */
const GRANTS_MAX = 1000

/** A file that cannot be read allows nothing. */
export function permissionsIn(file: string): Permissions {
  const session = new Set<string>()
  const key = (project: string, grant: Grant) => `${project}\0${grant}`
  return {
    allows: (project, grant) =>
      session.has(key(project, grant)) || (read(file).get(project)?.includes(grant) ?? false),
    remember: (project, grant, scope) => {
      session.add(key(project, grant))
      if (scope === "session") return
      const projects = read(file)
      const kept = (projects.get(project) ?? []).filter((known) => known !== grant)
      projects.set(project, [...kept, grant].slice(-GRANTS_MAX))
      write(file, Object.fromEntries(projects))
    },
  }
}

/** Read anew each time: two clients may stand open, and a user may take a line out of it. */
function read(file: string): Map<string, Grant[]> {
  try {
    const value = tryParseJson(readFileSync(file, "utf8"))?.value
    return new Map(Object.entries(isObject(value) ? value : {}).map(asGrants))
  } catch {
    return new Map()
  }
}

const asGrants = ([project, grants]: [string, unknown]): [string, Grant[]] => [
  project,
  Array.isArray(grants) ? grants.filter((grant) => typeof grant === "string") : [],
]

function write(file: string, projects: Record<string, Grant[]>): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(projects, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}
