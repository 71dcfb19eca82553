/** How this very program is started again: the executable, or the runtime with the sources. */
import { realpathSync } from "node:fs"

/** In an executable the modules lie in a file system of its own, `/$bunfs/` or `B:\~BUN\`. */
const isExecutable = (): boolean => /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN)/.test(Bun.main)

/** Absolute words. */
export const ownCommand = (): string[] =>
  isExecutable() ? [process.execPath] : [process.execPath, Bun.main]

/** What a person types: `eva-kernel` when that is this program. */
export function typedCommand(): string[] {
  const installed = isExecutable() ? Bun.which("eva-kernel") : null
  return installed && realpathSync(installed) === realpathSync(process.execPath)
    ? ["eva-kernel"]
    : ownCommand()
}
