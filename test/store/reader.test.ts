/** Reads in a thread of their own: many at once, their failures, and the end of it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readdirSync, statSync } from "node:fs"
import type { Store } from "../../src/store/open.ts"
import { createReader, type Reader } from "../../src/store/reader.ts"
import { open, tempFolder } from "./support.ts"

/** Counts so long that nothing ends it by itself within a test. */
const ENDLESS =
  "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1e12) SELECT count(*) FROM n"

let folder: ReturnType<typeof tempFolder>
let store: Store
let reader: Reader

beforeEach(() => {
  folder = tempFolder()
  store = open(folder.path)
  reader = createReader(store.path)
})
afterEach(async () => {
  await reader.close()
  store.close()
  folder[Symbol.dispose]()
})

const put = (key: string, value = "") =>
  store.write(() => store.db.query("INSERT INTO kernel_meta VALUES (?, ?)").run(key, value))

describe("the reader", () => {
  test("answers many reads at once, each with its own rows", async () => {
    for (let i = 0; i < 50; i++) put(`key-${i}`, String(i))
    const sql = "SELECT value FROM kernel_meta WHERE key = ?"
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => reader.all<{ value: string }>(sql, [`key-${i}`])),
    )
    expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => [{ value: String(i) }]))
  })

  test("sees what was committed a moment ago, and nothing that is not", async () => {
    const keys = () => reader.all("SELECT key FROM kernel_meta ORDER BY key")
    put("a")
    expect(await keys()).toEqual([{ key: "a" }])
    store.db.run("BEGIN IMMEDIATE")
    store.db.run("INSERT INTO kernel_meta VALUES ('b', '')")
    expect(await keys()).toEqual([{ key: "a" }])
    store.db.run("COMMIT")
    expect(await keys()).toEqual([{ key: "a" }, { key: "b" }])
  })

  test("says what is wrong with a statement, and the next one works", async () => {
    await expect(reader.all("SELECT * FROM nowhere")).rejects.toMatchObject({
      code: "internal",
      message: "the database read failed: no such table: nowhere",
    })
    expect(await reader.all("SELECT 1 AS one")).toEqual([{ one: 1 }])
  })

  test("cannot write", async () => {
    await expect(reader.all("INSERT INTO kernel_meta VALUES ('a', '')")).rejects.toThrow("readonly")
    expect(await reader.all("SELECT * FROM kernel_meta")).toEqual([])
  })

  test("does not stop the event loop", async () => {
    let isOver = false
    const slow = reader
      .all(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1e6) SELECT count(*) FROM n",
      )
      .then(() => {
        isOver = true
      })
    // The thread starts and reads while this one goes round.
    let rounds = 0
    while (!isOver) {
      rounds++
      await Bun.sleep(1)
    }
    await slow
    expect(rounds).toBeGreaterThan(5)
  })

  test("between its reads keeps nothing of the WAL: a checkpoint empties it", async () => {
    for (let i = 0; i < 20; i++) {
      put(`key-${i}`, "x".repeat(100_000))
      await reader.all("SELECT count(*) FROM kernel_meta")
    }
    const row = store.db.query("PRAGMA wal_checkpoint(TRUNCATE)").get()
    expect(row).toEqual({ busy: 0, log: 0, checkpointed: 0 })
    expect(statSync(`${folder.path}-wal`).size).toBe(0)
  })
})

describe("closing the reader", () => {
  test("lets the file go: the store leaves nothing but the database", async () => {
    put("a")
    await reader.all("SELECT 1")
    await reader.close()
    store.close()
    expect(readdirSync(folder.dir).sort()).toEqual(["eva.db", "eva.db.lock"])
    store = open(folder.path)
  })

  test("fails the reads that wait, also one that would never end, and does not wait for it", async () => {
    const waiting = Promise.allSettled([reader.all(ENDLESS), reader.all("SELECT 1")])
    await reader.close()
    const closing = { status: "rejected", reason: { message: "the database is closing" } }
    expect(await waiting).toMatchObject([closing, closing])
  })

  test("is final: a later read is refused, a later close does nothing", async () => {
    await reader.close()
    await reader.close()
    await expect(reader.all("SELECT 1")).rejects.toThrow("the database is closed")
  })
})
