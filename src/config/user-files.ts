/** The configuration of a user who names none: where `eva-kernel init` writes it and every command looks. */
import { statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import type { Environment } from "../lib/environment.ts"

export const CONFIG_NAME = "config.yaml"
export const SECRETS_NAME = "secrets.yaml"

const OTHERS_MAY_READ = 0o077

/**
 * XDG_CONFIG_HOME when it is set (the XDG specification ignores a relative one), else the usual place of the
 * platform: ~/.config, ~/Library/Application Support, %APPDATA%.
 */
export function configDirectory(environment: Environment, platform = process.platform): string {
  const home = environment.HOME ?? environment.USERPROFILE ?? homedir()
  const xdg = environment.XDG_CONFIG_HOME
  if (xdg && isAbsolute(xdg)) return join(xdg, "eva-kernel")
  if (platform === "darwin") return join(home, "Library", "Application Support", "eva-kernel")
  if (platform === "win32") {
    return join(environment.APPDATA ?? join(home, "AppData", "Roaming"), "eva-kernel")
  }
  return join(home, ".config", "eva-kernel")
}

export const userConfigFile = (environment: Environment): string =>
  join(configDirectory(environment), CONFIG_NAME)

/** The secrets that belong to a configuration file. */
export const secretsBeside = (configFile: string): string => join(dirname(configFile), SECRETS_NAME)

/** The user's files that exist, in order, with a warning when others can read the secrets. */
export function userConfigFiles(environment: Environment): { files: string[]; warnings: string[] } {
  const config = userConfigFile(environment)
  const secrets = secretsBeside(config)
  if (!modeOf(config)) return { files: [], warnings: [] }
  const mode = modeOf(secrets)
  if (!mode) return { files: [config], warnings: [] }
  const open = process.platform !== "win32" && (mode & OTHERS_MAY_READ) !== 0
  return {
    files: [config, secrets],
    warnings: open ? [`${secrets} can be read by others: chmod 600 ${secrets}`] : [],
  }
}

const modeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mode
