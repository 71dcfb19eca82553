/**
 * How clients on this machine find the kernel of a database: a small file beside it, for its owner's eyes
 * only since it may hold the token. A kernel writes it when it listens and takes it away when it stops.
 */
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { isAlive } from "../../lib/is-alive.ts"
import { isObject, tryParseJson } from "../../lib/json.ts"

export interface AddressEntry {
  /** Where clients of this machine reach it. */
  url: string
  pid: number
  version: string
  token?: string | undefined
  /** Lives in a chat client and ends with it. */
  transient?: boolean | undefined
}

const OWNER_ONLY = 0o600

export const addressFileOf = (dbPath: string): string => `${dbPath}.address`

/** Throws what the file system throws. A reader sees the old file or the new one, never a half. */
export function writeAddressFile(dbPath: string, entry: AddressEntry): void {
  const path = addressFileOf(dbPath)
  const draft = `${path}.${entry.pid}`
  writeFileSync(draft, `${JSON.stringify(entry)}\n`, { mode: OWNER_ONLY })
  // The mode above holds for a new file alone, and only under a usual umask.
  chmodSync(draft, OWNER_ONLY)
  renameSync(draft, path)
}

/** Takes away what this process wrote; a file that another kernel wrote meanwhile stays. */
export function removeAddressFile(dbPath: string, pid: number): void {
  if (readEntry(dbPath)?.pid === pid) rmSync(addressFileOf(dbPath), { force: true })
}

/** The entry of a kernel whose process lives; whether it answers is for the caller to try. */
export function readAddressFile(dbPath: string): AddressEntry | undefined {
  const entry = readEntry(dbPath)
  return entry && isAlive(entry.pid) ? entry : undefined
}

/** What a listener on every address is reached by from its own machine. */
export const localUrl = (url: string): string =>
  url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

function readEntry(dbPath: string): AddressEntry | undefined {
  const value = tryParseJson(textOf(addressFileOf(dbPath)))?.value
  if (!isObject(value)) return undefined
  const { url, pid, version, token, transient } = value
  if (typeof url !== "string" || !Number.isInteger(pid) || typeof version !== "string") {
    return undefined
  }
  return {
    ...{ url, version, pid: pid as number, transient: transient === true },
    token: typeof token === "string" ? token : undefined,
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
