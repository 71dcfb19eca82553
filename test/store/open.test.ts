/** Opening the one file: rights, pragmas, the lock, and every file that is no database of ours. */
import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { modeOf, one, open, openElsewhere, refusal, tempFolder, writeDatabase } from "./support.ts"

const isRoot = process.getuid?.() === 0

describe("a fresh database", () => {
  test("its folders are made, and all that lies there is for the owner alone", () => {
    using folder = tempFolder()
    const path = join(folder.dir, "some/where/eva.db")
    const before = process.umask(0o022)
    const store = open(path)
    store.write(() => store.db.run("INSERT INTO kernel_meta VALUES ('a', 'b')"))
    const files = readdirSync(join(folder.dir, "some/where"))
    expect(files.sort()).toEqual(["eva.db", "eva.db-shm", "eva.db-wal", "eva.db.lock"])
    for (const file of files) expect(modeOf(join(folder.dir, "some/where", file))).toBe("600")
    expect([modeOf(join(folder.dir, "some")), modeOf(join(folder.dir, "some/where"))]).toEqual([
      "700",
      "700",
    ])
    store.close()
    expect(process.umask(before)).toBe(0o022)
  })

  test("a folder that was there keeps its rights", () => {
    using folder = tempFolder()
    const dir = join(folder.dir, "shared")
    mkdirSync(dir)
    chmodSync(dir, 0o755)
    open(join(dir, "eva.db")).close()
    expect(modeOf(dir)).toBe("755")
  })

  test("every pragma that matters is set", () => {
    using folder = tempFolder()
    const store = open(folder.path)
    const pragma = (name: string) => one<unknown>(store, `PRAGMA ${name}`)
    expect({
      journal_mode: pragma("journal_mode"),
      synchronous: pragma("synchronous"),
      foreign_keys: pragma("foreign_keys"),
      busy_timeout: pragma("busy_timeout"),
      journal_size_limit: pragma("journal_size_limit"),
      temp_store: pragma("temp_store"),
    }).toEqual({
      journal_mode: "wal",
      synchronous: 2,
      foreign_keys: 1,
      busy_timeout: 200,
      journal_size_limit: 16 * 1024 * 1024,
      temp_store: 2,
    })
    store.close()
  })

  test("values are bound strictly: a missing or misspelt name is an error, not NULL", () => {
    using folder = tempFolder()
    const store = open(folder.path)
    const insert = store.db.query("INSERT INTO kernel_meta VALUES ($key, $value)")
    expect(() => insert.run({ key: "a" })).toThrow('Missing parameter "value"')
    expect(() => insert.run({ key: "a", valeu: "b" })).toThrow('Missing parameter "value"')
    expect(one<number>(store, "SELECT count(*) FROM kernel_meta")).toBe(0)
    store.close()
  })

  test("closing leaves one file with everything in it", () => {
    using folder = tempFolder()
    const store = open(folder.path)
    store.write(() => store.db.run("INSERT INTO kernel_meta VALUES ('a', 'b')"))
    store.close()
    expect(readdirSync(folder.dir).sort()).toEqual(["eva.db", "eva.db.lock"])
    const again = open(folder.path)
    expect(one<string>(again, "SELECT value FROM kernel_meta")).toBe("b")
    again.close()
  })
})

describe("the lock", () => {
  test("a second kernel in another process is refused in one line, and a kill frees the file", async () => {
    using folder = tempFolder()
    const other = await openElsewhere(folder.path)
    try {
      const { code, path, message } = refusal(folder.path)
      expect({ code, path }).toEqual({ code: "unavailable", path: "db.path" })
      expect(message).toBe(
        `${folder.path} is in use by another eva-kernel: stop that one, or give this one its own database`,
      )
    } finally {
      other.kill("SIGKILL")
      await other.exited
    }
    const store = open(folder.path)
    expect(one<string>(store, "SELECT value FROM kernel_meta WHERE key = 'from'")).toBe("elsewhere")
    store.close()
  })

  test("the same file by another name is the same file", () => {
    using folder = tempFolder()
    const store = open(folder.path)
    const link = join(folder.dir, "link.db")
    symlinkSync(folder.path, link)
    expect(refusal(link).message).toContain("is in use by another eva-kernel")
    expect(refusal(join(folder.dir, "..", folder.dir.split("/").at(-1)!, "eva.db")).code).toBe(
      "unavailable",
    )
    store.close()
    const byLink = open(link)
    expect(byLink.path).toBe(store.path)
    byLink.close()
  })

  test("a refused start lets go of the lock", () => {
    using folder = tempFolder()
    writeFileSync(folder.path, "no database at all, but long enough to be one".repeat(100))
    refusal(folder.path)
    writeFileSync(folder.path, "")
    open(folder.path).close()
  })
})

describe("what cannot be the database is refused and left as it is", () => {
  const refused = (path: string) => {
    const { code, path: key, message } = refusal(path)
    expect({ code, key }).toEqual({ code: "config", key: "db.path" })
    expect(message).toStartWith(`${path} cannot be used as the database: `)
    expect(message).not.toContain("\n")
    return message.slice(`${path} cannot be used as the database: `.length)
  }

  test("a file that is no database", () => {
    using folder = tempFolder()
    const text = "Dear diary, this is no database.\n".repeat(500)
    writeFileSync(folder.path, text)
    expect(refused(folder.path)).toBe("file is not a database. The file is left as it is")
    expect(readFileSync(folder.path, "utf8")).toBe(text)
  })

  test("a database whose header was overwritten", () => {
    using folder = tempFolder()
    open(folder.path).close()
    const bytes = readFileSync(folder.path)
    bytes.fill(0x20, 0, 100)
    writeFileSync(folder.path, bytes)
    expect(refused(folder.path)).toBe("file is not a database. The file is left as it is")
    expect(readFileSync(folder.path).equals(bytes)).toBe(true)
    expect(readdirSync(folder.dir).sort()).toEqual(["eva.db", "eva.db.lock"])
  })

  test("a folder", () => {
    using folder = tempFolder()
    expect(refused(folder.dir)).toBe("it is a folder")
    expect(readdirSync(folder.dir)).toEqual([])
  })

  test("a path through a file", () => {
    using folder = tempFolder()
    writeFileSync(join(folder.dir, "file"), "")
    expect(refused(join(folder.dir, "file", "eva.db"))).toContain("EEXIST")
  })

  test.skipIf(isRoot)("a folder that cannot be written", () => {
    using folder = tempFolder()
    chmodSync(folder.dir, 0o500)
    expect(refused(folder.path)).toContain("its lock")
    chmodSync(folder.dir, 0o700)
    expect(existsSync(folder.path)).toBe(false)
  })

  test.skipIf(!existsSync("/proc/self"))("a folder where nobody can write, not even root", () => {
    expect(refused("/proc/self/eva.db")).toContain("its lock /proc/self/eva.db.lock: ")
  })

  test("the database of another program, whatever version it says it has", () => {
    using folder = tempFolder()
    writeDatabase(folder.path, "CREATE TABLE notes (text); PRAGMA user_version = 1")
    const bytes = readFileSync(folder.path)
    const { code, path, message } = refusal(folder.path)
    expect({ code, path }).toEqual({ code: "config", path: "db.path" })
    expect(message).toBe(
      `${folder.path} is the database of another program: name a file of the kernel's own`,
    )
    expect(readFileSync(folder.path).equals(bytes)).toBe(true)
  })
})
