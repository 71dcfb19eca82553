/** The identities that are the master's: the setting `master.aliases`. */
import { KernelError } from "../lib/error.ts"
import type { PersonAlias } from "../schema/person.ts"

/** Keys made by `aliasKey`. */
export type MasterAliases = ReadonlySet<string>

/** `source:ext_id`, case ignored. A source has no colon, so the first one ends it. */
export const aliasKey = (alias: PersonAlias): string =>
  `${alias.source}:${alias.ext_id}`.toLowerCase()

/**
 * Reads `master.aliases`; each is written `source:ext_id`, such as `telegram:123456789`. A bare name or id
 * is refused: on another surface a stranger could take the same one and become the master.
 * Throws KernelError("config").
 */
export function parseMasterAliases(aliases: readonly string[]): MasterAliases {
  return new Set(
    aliases.map((alias, index) => {
      const [, source, extId] = /^([^:\s]+):(.+)$/s.exec(alias.trim()) ?? []
      if (source && extId) return aliasKey({ source, ext_id: extId.trim() })
      throw new KernelError(
        "config",
        `"${alias}" is no alias: write the surface and its own id of you, such as telegram:123456789`,
        { path: `master.aliases[${index}]` },
      )
    }),
  )
}
