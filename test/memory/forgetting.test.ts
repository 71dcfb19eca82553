/** Forgetting: what was erased is in no table and not in the bytes of the file. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { createMockEmbedder } from "../../src/llm/mock-embedder.ts"
import { OWNER } from "../../src/memory/memories.ts"
import { DAY_MS, type MemoryRig, memoryRig } from "./rig.ts"

let rig: MemoryRig
beforeEach(() => {
  rig = memoryRig({ embedder: createMockEmbedder("one") })
})
afterEach(() => rig.dispose())

/** A word that stands nowhere else, and that stemming leaves alone. */
const CANARY = "zanzibarquux"

const onDisk = (word: string): boolean =>
  [rig.file, `${rig.file}-wal`].some(
    (path) => existsSync(path) && readFileSync(path).includes(word),
  )

const others = (count: number, word = "") =>
  Array.from({ length: count }, (_, i) => `Record number${i} of something else ${word}`.trim())

test("a purged record is gone from the file, its log and every table", async () => {
  await rig.load(...others(50))
  const [id] = await rig.load(`The master said ${CANARY} to Anna`)
  await rig.load(...others(50))
  await rig.memories.embedded()
  expect(onDisk(CANARY)).toBe(true)

  await rig.memories.purge(id!)
  expect(onDisk(CANARY)).toBe(false)
  expect((await rig.found(CANARY)).join()).not.toContain(CANARY)
  const rows = (table: string, key: string) =>
    rig.store.db.query(`SELECT 1 FROM ${table} WHERE ${key} = ?`).all(id!).length
  expect([
    rows("memories", "id"),
    rows("memory_index", "rowid"),
    rows("memory_vectors", "memory_id"),
    rows("memory_archive", "id"),
  ]).toEqual([0, 0, 0, 0])
  expect(rig.store.db.query("SELECT 1 FROM memory_terms WHERE term = ?").all(CANARY)).toEqual([])
})

test("so is one that was changed, archived, restored and archived again before", async () => {
  const [id] = await rig.load(`The master said ${CANARY} to Anna`)
  rig.memories.update(id!, { content: `He said ${CANARY} again, and then ${CANARY}` }, OWNER)
  rig.memories.forget(id!, { by: "api" })
  rig.memories.restore(id!)
  rig.memories.update(id!, { content: `Once more ${CANARY}` }, OWNER)
  rig.memories.forget(id!, { by: "api", reason: `${CANARY} is no secret` })
  await rig.load(...others(20))
  await rig.memories.purge(id!)
  expect(onDisk(CANARY)).toBe(false)
})

test("words that others hold, too, stay with those", async () => {
  const [first, second] = await rig.load(`Anna: ${CANARY}`, `Boris: ${CANARY} too`)
  await rig.memories.purge(first!)
  expect((await rig.search(CANARY)).map(({ id }) => id)).toEqual([second!])
  await rig.memories.purge(second!)
  expect(onDisk(CANARY)).toBe(false)
})

test("what was archived before a moment is erased for good, the rest stays", async () => {
  const [old, young] = await rig.load(`Anna: ${CANARY}`, "Boris: hello")
  rig.memories.forget(old!, { by: "sleep", reason: "old" })
  rig.clock.advance(2 * DAY_MS)
  rig.memories.forget(young!, { by: "sleep" })
  expect(await rig.memories.purgeArchived(rig.clock.now() - DAY_MS)).toBe(1)
  expect(onDisk(CANARY)).toBe(false)
  expect(rig.memories.archived({ limit: 5, offset: 0 }).map(({ id }) => id)).toEqual([young!])
})

test("the index agrees with the records after much coming and going", async () => {
  const ids = await rig.load(...others(120, "word"))
  for (const id of ids.slice(0, 60)) rig.memories.forget(id, { by: "api" })
  for (const id of ids.slice(0, 30)) rig.memories.restore(id)
  for (const id of ids.slice(30, 40)) await rig.memories.purge(id)
  for (const id of ids.slice(0, 20)) rig.memories.update(id, { content: `New ${id}` }, OWNER)
  // With rank 1 the index is compared with what it was made from.
  rig.store.db.run("INSERT INTO memory_index (memory_index, rank) VALUES ('integrity-check', 1)")
  const count = (table: string) =>
    rig.store.db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n
  expect([count("memories"), count("memory_index")]).toEqual([90, 90])
})

test("the id of a record that is gone never comes back as another", async () => {
  const [, last] = await rig.load("Anna: hello", "Boris: hello")
  await rig.memories.purge(last!)
  const [next] = await rig.load("Carl: hello")
  expect(next).toBe(last! + 1)
})

test("a purge waits for a reader that holds old pages, and still leaves nothing", async () => {
  const threaded = memoryRig({ inlineMax: 0 })
  const ids = await threaded.load(`Anna: ${CANARY}`, ...others(30))
  const reading = Promise.all(Array.from({ length: 20 }, () => threaded.search("record something")))
  await threaded.memories.purge(ids[0]!)
  await reading
  const bytes = readFileSync(threaded.file)
  expect(bytes.includes(CANARY)).toBe(false)
  expect(
    existsSync(`${threaded.file}-wal`) && readFileSync(`${threaded.file}-wal`).includes(CANARY),
  ).toBe(false)
  await threaded.dispose()
})
