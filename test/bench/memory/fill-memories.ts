/** Fills a kernel's database with many memories and their vectors, by the kernel's own tables. */
import { Database } from "bun:sqlite"
import { toUnit } from "../../../src/memory/signs.ts"
import { createMemoryTable } from "../../../src/memory/store/memory-table.ts"
import { createVectorTable } from "../../../src/memory/store/vector-table.ts"
import { contentOf, randomVector } from "./made-up.ts"

const DAY_MS = 24 * 3600 * 1000
const START_MS = Date.parse("2024-01-01T00:00:00Z")

/** Adds `count` records; the file must have been opened by a kernel before. */
export function fillMemories(path: string, count: number, model: string): void {
  const db = new Database(path, { strict: true })
  try {
    db.run("PRAGMA synchronous = OFF")
    db.run("BEGIN IMMEDIATE")
    const table = createMemoryTable(db)
    const vectors = createVectorTable(db)
    for (let i = 0; i < count; i++) {
      const content = contentOf(i)
      const at = START_MS + (i % 700) * DAY_MS
      const id = table.insert({
        ...{ kind: i % 3 === 0 ? "event" : "fact", importance: 1 + (i % 5), content, source: null },
        ...{ private: i % 10 === 0 ? 1 : 0, hits: i % 4 },
        ...{ created_at: at, updated_at: at, accessed_at: at },
      })
      vectors.put({ id, content, model, unit: toUnit(randomVector(i))! })
    }
    db.run("COMMIT")
    db.run("PRAGMA wal_checkpoint(TRUNCATE)")
  } finally {
    db.close()
  }
}
