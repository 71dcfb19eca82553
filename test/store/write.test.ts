/** One kind of transaction: synchronous, whole or not at all, whatever the disk does. */
import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { statSync } from "node:fs"
import { KernelError } from "../../src/lib/error.ts"
import type { Store } from "../../src/store/open.ts"
import { one, open, tempFolder } from "./support.ts"

let folder: ReturnType<typeof tempFolder>
let store: Store

beforeEach(() => {
  folder = tempFolder()
  store = open(folder.path)
})
afterEach(() => {
  store.close()
  folder[Symbol.dispose]()
})

const put = (key: string, value = "") =>
  store.db.query("INSERT INTO kernel_meta VALUES (?, ?)").run(key, value)
const keys = () =>
  store.db
    .query<{ key: string }, []>("SELECT key FROM kernel_meta ORDER BY key")
    .all()
    .map(({ key }) => key)

const thrown = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error("nothing was thrown")
}

describe("write", () => {
  test("gives what the work gives, and another connection sees it at once", () => {
    expect(store.write(() => put("a").changes)).toBe(1)
    using other = new Database(folder.path, { readonly: true })
    expect(other.query("SELECT key FROM kernel_meta").all()).toEqual([{ key: "a" }])
  })

  test("is undone when the work throws, and the next one works", () => {
    const error = thrown(() =>
      store.write(() => {
        put("a")
        throw new Error("no")
      }),
    )
    expect(error).toEqual(new Error("no"))
    store.write(() => put("b"))
    expect(keys()).toEqual(["b"])
  })

  test("inside another is part of it: the outer failure undoes both", () => {
    thrown(() =>
      store.write(() => {
        store.write(() => put("inner"))
        throw new Error("outer")
      }),
    )
    expect(keys()).toEqual([])
  })

  test("inside another is undone alone when its failure is dealt with", () => {
    store.write(() => {
      put("before")
      thrown(() =>
        store.write(() => {
          put("inner")
          store.write(() => put("innermost"))
          throw new Error("inner")
        }),
      )
      store.write(() => put("after"))
    })
    expect(keys()).toEqual(["after", "before"])
  })

  test("refuses asynchronous work, by its type and when it runs", () => {
    // @ts-expect-error: a promise would be committed before it is kept
    const error = thrown(() => store.write(async () => put("late")))
    expect(error).toEqual(
      new Error("assertion failed: the work of a transaction must be synchronous"),
    )
    expect(keys()).toEqual([])
  })
})

describe("when the world does not help", () => {
  test("a program that holds the lock: a clear error after a short wait, and success later", () => {
    using other = new Database(folder.path)
    other.run("BEGIN IMMEDIATE")
    expect(store.db.query("PRAGMA busy_timeout").get()).toEqual({ timeout: 200 })
    const error = thrown(() => store.write(() => put("a")))
    expect(error).toBeInstanceOf(KernelError)
    expect(error).toMatchObject({
      code: "unavailable",
      message: "the database is held by another program; try again",
    })
    other.run("COMMIT")
    store.write(() => put("b"))
    expect(keys()).toEqual(["b"])
  })

  test("a full disk: the write is undone and said so, reads go on, and so do writes when there is room", () => {
    store.write(() => put("kept"))
    const pages = one<number>(store, "PRAGMA page_count")
    store.db.run(`PRAGMA max_page_count = ${pages + 2}`)
    const error = thrown(() =>
      store.write(() => {
        put("small")
        for (let i = 0; i < 100; i++) put(`large-${i}`, "x".repeat(4000))
      }),
    )
    expect(error).toMatchObject({
      code: "unavailable",
      message: "the disk of the database is full; nothing was stored",
    })
    expect(keys()).toEqual(["kept"])
    store.db.run("PRAGMA max_page_count = 1000000")
    store.write(() => put("again"))
    expect(keys()).toEqual(["again", "kept"])
    expect(one<string>(store, "PRAGMA integrity_check")).toBe("ok")
  })
})

describe("the WAL", () => {
  const LIMIT = 16 * 1024 * 1024
  const walBytes = () => statSync(`${folder.path}-wal`).size
  const writeMegabytes = (count: number) => {
    const blob = "x".repeat(1024 * 1024)
    for (let i = 0; i < count; i++) {
      store.write(() => {
        store.db.run("DELETE FROM kernel_meta WHERE key = 'blob'")
        put("blob", blob)
      })
    }
  }

  test("that a reader held open shrinks to its limit without a restart once it is gone", () => {
    const reader = new Database(folder.path, { readonly: true })
    store.write(() => put("seen"))
    reader.run("BEGIN")
    expect(reader.query("SELECT key FROM kernel_meta").all()).toEqual([{ key: "seen" }])
    writeMegabytes(24)
    expect(walBytes()).toBeGreaterThan(LIMIT)
    reader.run("COMMIT")
    writeMegabytes(3)
    expect(walBytes()).toBeLessThanOrEqual(LIMIT)
    reader.close()
  })

  test("without a reader stays small by itself", () => {
    writeMegabytes(24)
    expect(walBytes()).toBeLessThan(LIMIT)
  })
})
