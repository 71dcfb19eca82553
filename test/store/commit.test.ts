import { afterEach, expect, test } from "bun:test"
import { silentLog } from "../../src/lib/log.ts"
import { openStore, type Store } from "../../src/store/open.ts"
import { tempFolder } from "../support/kernel.ts"

let store: Store
const open = () => {
  store = openStore({ path: `${tempFolder()}/eva.db`, log: silentLog })
  return store
}
afterEach(() => store.close())

const put = (key: string) => {
  store.db.run("INSERT INTO kernel_meta (key, value) VALUES (?, '')", [key])
  return key
}
const keys = () =>
  store.db
    .query<{ key: string }, []>("SELECT key FROM kernel_meta ORDER BY key")
    .all()
    .map((row) => row.key)

test("what is asked in one moment is committed together, and each fails alone", async () => {
  open()
  const works = ["a", "b", "a", "c"].map((key) => store.commit(() => put(key)))
  expect(keys()).toEqual([])
  const settled = await Promise.allSettled(works)
  expect(settled.map((one) => one.status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
  ])
  expect(settled[3]).toMatchObject({ value: "c" })
  expect(keys()).toEqual(["a", "b", "c"])
})

test("a disk that refuses the batch refuses everyone in it, and the next batch works", async () => {
  open()
  const pages = store.db.query<{ page_count: number }, []>("PRAGMA page_count").get()!.page_count
  store.db.run(`PRAGMA max_page_count = ${pages}`)
  const big = "x".repeat(1_000_000)
  const works = [store.commit(() => put("small")), store.commit(() => put(big))]
  const settled = await Promise.allSettled(works)
  expect(settled[1]).toMatchObject({ status: "rejected", reason: { code: "unavailable" } })
  store.db.run("PRAGMA max_page_count = 100000")
  expect(await store.commit(() => put("later"))).toBe("later")
  expect(keys()).toContain("later")
  expect(keys().includes("small")).toBe(settled[0]!.status === "fulfilled")
})

test("what is told after the commit is told once, in order, and never of what was undone", () => {
  open()
  const told: string[] = []
  const tell = (what: string) => store.afterCommit(() => told.push(`${what} ${keys().join()}`))
  tell("outside")
  store.write(() => {
    put("a")
    tell("first")
    expect(() =>
      store.write(() => {
        tell("undone")
        throw new Error("no")
      }),
    ).toThrow("no")
    store.write(() => tell("second"))
    expect(told).toEqual(["outside "])
  })
  expect(told).toEqual(["outside ", "first a", "second a"])
  expect(() =>
    store.write(() => {
      tell("never")
      throw new Error("no")
    }),
  ).toThrow("no")
  expect(told).toHaveLength(3)
})
