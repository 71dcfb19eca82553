/**
 * Closing any descriptor of the database file drops all POSIX locks that this process has on it, SQLite's
 * too; another process could then write at the same time. So nothing opens that file but SQLite.
 */
import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const SRC = join(import.meta.dir, "../../src")

const sources = (readdirSync(SRC, { recursive: true }) as string[])
  .filter((path) => path.endsWith(".ts"))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(SRC, path), "utf8") }))

/** Calls that give a descriptor or read or write a file, as opposed to those that look at its name. */
const OPENS =
  /\b(?:open|openSync|Bun\.file|Bun\.write|readFile|readFileSync|writeFile|writeFileSync|appendFile\w*|copyFile\w*|cp|cpSync|create(?:Read|Write)Stream)\(/

test("the store opens no file itself but the finished copy", () => {
  const found = sources
    .filter(({ path }) => path.startsWith("store/"))
    .flatMap(({ path, text }) =>
      text
        .split("\n")
        .filter((line) => OPENS.test(line) && !/^\s*(?:\*|\/\/)/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    )
  expect(found).toEqual([
    'store/migrate.ts: const file = openSync(copy, "r+")',
    // Both are functions of this name that open a connection.
    "store/read-worker.ts: db ??= open(path)",
    "store/read-worker.ts: function open(path: string): Database {",
  ])
})

test("few know the path of the database, and none of them opens a file by it", () => {
  const knowing = sources
    .filter(({ path, text }) => !path.startsWith("store/") && /\b(?:store|db)\.path\b/.test(text))
    .map(({ path }) => path)
  // Before a file joins this list somebody looks whether it can open the database.
  const known = [
    "cli/chat/find-kernel.ts", // asks for the address beside the database
    "cli/man-page.ts", // names the setting
    "cli/serve.ts", // prints it
    "config/resolve.ts", // makes it absolute
    "kernel.ts", // gives it to the store and its reader
    "memory/memories.ts", // gives it to the recall thread, which opens it through SQLite
    "history/history.ts", // gives it to the search thread, which does so too
    "kernel/serving.ts", // writes the address beside it
  ]
  expect(knowing.filter((path) => !known.includes(path))).toEqual([])
})
