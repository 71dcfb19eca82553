/**
 * The configuration of a command: the files that were named, else the user's own files, else what a kernel
 * finds by itself. The environment lies over each of them.
 */
import type { LoadedConfig } from "../config/build.ts"
import { dataDirectory } from "../config/data-directory.ts"
import { defaultConfig } from "../config/defaults.ts"
import { loadConfig } from "../config/load.ts"
import { type Probe, probeModelServer } from "../config/probe.ts"
import { userConfigFiles } from "../config/user-files.ts"
import type { Environment } from "../lib/environment.ts"

export interface ReadConfig extends LoadedConfig {
  /** What was found when there is no file at all. */
  found?: { provider: string; why: string }
}

/**
 * `files` are those of --config; `probe` asks local model servers when there is no file at all. Throws
 * KernelError("config").
 */
export async function readConfig(
  files: readonly string[],
  environment: Environment,
  probe: Probe = probeModelServer,
): Promise<ReadConfig> {
  const cwd = process.cwd()
  if (files.length > 0) return loadConfig({ files, environment, cwd })
  const own = userConfigFiles(environment)
  if (own.files.length > 0) {
    const loaded = await loadConfig({ files: own.files, environment, cwd })
    return { ...loaded, warnings: [...own.warnings, ...loaded.warnings] }
  }
  const dataDir = dataDirectory(environment)
  const loaded = await defaultConfig({ environment, dataDir, cwd, probe })
  return { ...loaded, found: { provider: loaded.provider, why: loaded.why } }
}
