/** Folders for databases, and a second process that opens one. */
import { Database } from "bun:sqlite"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { KernelError } from "../../src/lib/error.ts"
import { silentLog } from "../../src/lib/log.ts"
import { type OpenOptions, openStore, type Store } from "../../src/store/open.ts"

const ROOT = join(import.meta.dir, "../..")

/** A folder that is removed at the end of its block. */
export function tempFolder(): { dir: string; path: string } & Disposable {
  const dir = mkdtempSync(join(tmpdir(), "eva-store-"))
  const remove = () => rmSync(dir, { recursive: true, force: true })
  return { dir, path: join(dir, "eva.db"), [Symbol.dispose]: remove }
}

export const open = (path: string, options: Partial<OpenOptions> = {}): Store =>
  openStore({ path, log: silentLog, ...options })

/** What openStore throws for this path. */
export function refusal(path: string, options: Partial<OpenOptions> = {}): KernelError {
  try {
    open(path, options).close()
  } catch (error) {
    if (error instanceof KernelError) return error
    throw error
  }
  throw new Error(`${path} was opened`)
}

/** A database that SQLite alone made, as another program would. */
export function writeDatabase(path: string, sql: string): void {
  using db = new Database(path)
  db.run(sql)
}

export const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

export const one = <T>(store: Pick<Store, "db">, sql: string): T =>
  Object.values(store.db.query<Record<string, T>, []>(sql).get() ?? {})[0] as T

/** Another process that has the store open until it is killed. */
export async function openElsewhere(path: string): Promise<Bun.Subprocess<"ignore", "pipe">> {
  const script = `
    import { openStore } from ${JSON.stringify(join(ROOT, "src/store/open.ts"))}
    import { silentLog } from ${JSON.stringify(join(ROOT, "src/lib/log.ts"))}
    const store = openStore({ path: ${JSON.stringify(path)}, log: silentLog })
    store.write(() => store.db.run("INSERT INTO kernel_meta VALUES ('from', 'elsewhere')"))
    process.stdout.write("open")
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, "-e", script], { stdin: "ignore", stdout: "pipe" })
  const said = await child.stdout.getReader().read()
  if (!said.value) throw new Error(`the other process could not open ${path}`)
  return child
}
