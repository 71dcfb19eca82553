/** Where a kernel without configuration keeps its data, and where clients keep what they may lose. */
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { Environment } from "../lib/environment.ts"

/**
 * XDG_DATA_HOME when it is set (the XDG specification ignores a relative one), else the usual place of the
 * platform: ~/.local/share, ~/Library/Application Support, %LOCALAPPDATA%.
 */
export function dataDirectory(environment: Environment, platform = process.platform): string {
  const home = environment.HOME ?? environment.USERPROFILE ?? homedir()
  const xdg = environment.XDG_DATA_HOME
  if (xdg && isAbsolute(xdg)) return join(xdg, "eva-kernel")
  if (platform === "darwin") return join(home, "Library", "Application Support", "eva-kernel")
  if (platform === "win32") {
    return join(environment.LOCALAPPDATA ?? join(home, "AppData", "Local"), "eva-kernel")
  }
  return join(home, ".local", "share", "eva-kernel")
}

/**
 * What may be lost: XDG_STATE_HOME when it is set, else ~/.local/state; platforms without such a place keep
 * it with the data.
 */
export function stateDirectory(environment: Environment, platform = process.platform): string {
  const xdg = environment.XDG_STATE_HOME
  if (xdg && isAbsolute(xdg)) return join(xdg, "eva-kernel")
  if (platform === "darwin" || platform === "win32") return dataDirectory(environment, platform)
  const home = environment.HOME ?? environment.USERPROFILE ?? homedir()
  return join(home, ".local", "state", "eva-kernel")
}
