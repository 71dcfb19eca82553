/** Which records are looked at together. */
import { expect, test } from "bun:test"
import { stems } from "../../src/lib/stems.ts"
import type { CorpusRecord } from "../../src/memory/consolidate.ts"
import { toUnit } from "../../src/memory/signs.ts"
import { clustersOf } from "../../src/sleep/clusters.ts"

const record = (id: number, content: string, vector?: number[]): CorpusRecord => ({
  row: {
    ...{ id, content, kind: "fact", importance: 3, private: 0, source: null, hits: 0 },
    ...{ created_at: 0, updated_at: 0, accessed_at: 0, consolidated_at: null },
  },
  stems: new Set(stems(content)),
  vector: vector && toUnit(vector),
})

/** A direction of its own for each number, and one near it. */
const direction = (turn: number, astray = 0): number[] =>
  Array.from({ length: 64 }, (_, i) => Math.sin(i * turn) + astray * Math.cos(i * 31))

const groups = async (
  records: CorpusRecord[],
  { open = records.map(({ row }) => row.id), maxSize = 12 } = {},
) => {
  const found = await clustersOf({
    records,
    isOpen: ({ row }) => open.includes(row.id),
    settings: { jaccard: 0.35, cosine: 0.82, maxSize },
    breathe: async () => {},
    signal: new AbortController().signal,
  })
  return found.map((members) => members.map(({ row }) => row.id)).sort()
}

test("records belong together by words, along a chain, or by meaning (SLP-10)", async () => {
  expect(
    await groups([
      record(1, "Anna plays violin"),
      record(2, "Anna plays cello"),
      record(3, "Boris plays cello"),
      record(4, "rain on sunday", direction(7)),
      record(5, "воскресный дождь", direction(7, 0.2)),
      record(6, "something else", direction(13)),
    ]),
  ).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
})

test("a large group is cut at its weakest ties (SLP-10)", async () => {
  const records = [
    record(1, "a1 b1 c1 d1 e1"),
    record(2, "a1 b1 c1 d1 f1"),
    record(3, "a1 b1 f1 g1 h1"),
    record(4, "a1 f1 g1 h1 i1"),
  ]
  expect(await groups(records)).toEqual([[1, 2, 3, 4]])
  expect(await groups(records, { maxSize: 3 })).toEqual([
    [1, 2],
    [3, 4],
  ])
})

test("groups without an open record are not given (SLP-12)", async () => {
  const records = [
    record(1, "Anna plays violin"),
    record(2, "Anna plays cello"),
    record(3, "rain on a sunday"),
    record(4, "rain on every sunday"),
  ]
  expect(await groups(records, { open: [3] })).toEqual([[3, 4]])
  expect(await groups(records, { open: [] })).toEqual([])
})
