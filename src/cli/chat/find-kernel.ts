/**
 * Finds the kernel that a chat client talks to: the one that was named, else the one of the configured
 * database when it runs on this machine, else one started in this very process.
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { configSecrets } from "../../config/mask.ts"
import type { Config } from "../../config/schema.ts"
import { sleep } from "../../lib/async.ts"
import type { Environment } from "../../lib/environment.ts"
import { KernelError } from "../../lib/error.ts"
import { uuidV4 } from "../../lib/id.ts"
import { createLog, type Log } from "../../lib/log.ts"
import { maskLiterals } from "../../lib/mask.ts"
import { readConfig } from "../read-config.ts"
import type { Serving, StartServing } from "../serve.ts"
import { type AddressEntry, readAddressFile } from "./address-file.ts"
import { createKernelClient, type KernelAddress } from "./kernel-client.ts"

export interface FindOptions {
  /** --url and --token, when given. */
  url?: string | undefined
  token?: string | undefined
  /** The files of --config. */
  configFiles: readonly string[]
  environment: Environment
  start: StartServing
  /** Where a kernel of this process writes what it has to say. */
  logFile: string
}

export interface FoundKernel {
  /** As it is now: a kernel may come back under another address. */
  address(): KernelAddress
  /** What it is remembered by: the path of its database, or its address. */
  name: string
  /** A sentence for the user about how it came to be; undefined for the usual. */
  remark: string | undefined
  /** Looks for it anew after it went away. Undefined when it was named. */
  relocate?: () => Promise<void>
  /** Ends a kernel of this process, after its running turns. */
  close(): Promise<void>
}

/** An answer from this machine takes milliseconds; one that is stuck must not hold up the start. */
const PROBE_MS = 2000
/** How long a kernel that holds the database may take until it listens. */
const STARTING_MS = 5000
const STARTING_POLL_MS = 50

/** Throws ClientError or KernelError with one sentence. Whether a named kernel answers is not tried. */
export async function findKernel(options: FindOptions): Promise<FoundKernel> {
  const { environment, configFiles } = options
  const url = options.url ?? environment.EVA_URL
  const token = options.token ?? environment.EVA_TOKEN
  if (url) {
    const address = { url: url.replace(/\/+$/, ""), token }
    return { name: address.url, remark: undefined, address: () => address, close: async () => {} }
  }
  // Where the database lies does not depend on which model servers answer, so nobody is asked yet.
  const { config } = await readConfig(configFiles, environment, async () => undefined)
  const local = new LocalKernel(options, config.db.path)
  await local.findOrStart()
  return {
    name: config.db.path,
    remark: local.remark,
    address: () => local.address,
    relocate: () => local.relocate(),
    close: () => local.close(),
  }
}

/** The kernel of one database on this machine. */
class LocalKernel {
  readonly #options: FindOptions
  readonly #dbPath: string
  #entry: AddressEntry | undefined
  #own: { serving: Serving; drainMs: number } | undefined
  address: KernelAddress = { url: "" }
  remark: string | undefined

  constructor(options: FindOptions, dbPath: string) {
    this.#options = options
    this.#dbPath = dbPath
  }

  async findOrStart(): Promise<void> {
    if (await this.#find()) return
    try {
      await this.#start()
    } catch (error) {
      // Another process has the database: it is starting, or it is about to say where it listens.
      if (!isInUse(error) || !(await this.#findStarting())) throw error
    }
  }

  /** One that lived in another client ended with it, and this client takes over; any other comes back. */
  async relocate(): Promise<void> {
    if (this.#own !== undefined || (await this.#find())) return
    if (this.#entry?.transient) await this.findOrStart()
  }

  async close(): Promise<void> {
    await this.#own?.serving.close(this.#own.drainMs)
  }

  async #find(): Promise<boolean> {
    const entry = readAddressFile(this.#dbPath)
    if (!entry) return false
    const address = { url: entry.url, token: this.#options.token ?? entry.token }
    const probe = createKernelClient({ address: () => address, timeoutMs: PROBE_MS })
    const answers = await probe.health().then(
      () => true,
      () => false,
    )
    if (!answers) return false
    this.#entry = entry
    this.address = address
    return true
  }

  async #findStarting(): Promise<boolean> {
    for (let waited = 0; waited < STARTING_MS; waited += STARTING_POLL_MS) {
      if (await this.#find()) return true
      await sleep(STARTING_POLL_MS)
    }
    return false
  }

  async #start(): Promise<void> {
    const { configFiles, environment, start, logFile } = this.#options
    const { config, found } = await readConfig(configFiles, environment)
    // Any other program of this machine may knock at the port; only who can read the address file gets in.
    const token = uuidV4()
    const server = { ...config.server, listen: "127.0.0.1:0", token }
    const log = logTo(logFile, config, token)
    const serving = await start({
      ...{ config: { ...config, server }, environment, log, transient: true },
    })
    this.#own = { serving, drainMs: server.drain }
    this.#entry = undefined
    this.address = { url: serving.url, token }
    if (found?.provider === "mock" && !environment.EVA_LLM__PROVIDER) {
      this.remark = `no model is set up, a mock answers (${found.why}); run eva-kernel init`
    }
  }
}

const isInUse = (error: unknown): boolean =>
  error instanceof KernelError && error.code === "unavailable" && error.path === "db.path"

/** The terminal belongs to the chat, so warnings go to a file, which each start begins anew. */
function logTo(file: string, config: Config, token: string): Log {
  let fd: number | undefined
  const open = (): number => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return openSync(file, "w", 0o600)
  }
  const write = (line: string) => {
    try {
      fd ??= open()
      writeSync(fd, line)
    } catch {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    }
  }
  const mask = maskLiterals([...configSecrets(config), token])
  return createLog({ level: "warn", human: false, write, mask })
}
