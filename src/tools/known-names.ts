/** The one check of a list of tool and group names, whoever keeps it: a set, a cron job, a chat. */
import { KernelError } from "../lib/error.ts"
import { nearest } from "../lib/text.ts"
import type { Registry } from "./registry.ts"

/**
 * Throws `invalid` for a name that no tool and no group bears: a list with a slip in it would silently close
 * what it was meant to open.
 */
export function checkToolNames(
  names: readonly string[],
  registry: Pick<Registry, "list">,
  path = "tools",
): void {
  const tools = registry.list().map(({ tool }) => tool)
  const groups = [...new Set(tools.map(({ group }) => group))]
  const known = new Set([...groups, ...tools.map(({ name }) => name)])
  const unknown = names.find((name) => !known.has(name))
  if (unknown === undefined) return
  const guess = nearest(unknown, known)
  throw new KernelError(
    "invalid",
    `no tool and no group ${JSON.stringify(unknown)}; ${guess ? `did you mean ${guess}? ` : ""}groups are ${groups.join(", ")}`,
    { path },
  )
}
