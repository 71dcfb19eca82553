/** What the kernel does not let a plan do, whatever its schema allowed. */
import { afterEach, expect, test } from "bun:test"
import { OWNER } from "../../src/memory/memories.ts"
import { DAY_MS, type Op, outcomes, type SleepRig, sleepRig } from "./rig.ts"

let rig: SleepRig
afterEach(() => rig.dispose())

/** Plays these operations in the first group that is shown. */
async function nightOf(ops: Op[]) {
  const left = [ops]
  rig.plan(({ phase }) => (phase === "cluster" ? (left.shift() ?? []) : []))
  return outcomes(await rig.night(), "cluster")
}

const CITY = [
  "Anna lives in Berlin near the old park",
  "Anna lives in Lisbon near the old park",
  "Anna lives near the old park in the north",
]
const why = "because"

test("core is never let go, only its words and its kind change (SLP-10, SLP-22)", async () => {
  rig = await sleepRig()
  await rig.save(CITY[0]!, { kind: "core" })
  rig.clock.advance(DAY_MS)
  await rig.save(CITY[1]!)
  rig.clock.advance(3 * DAY_MS)
  expect(
    await nightOf([
      { op: "supersede", id: 1, by: 2, why },
      { op: "rewrite", id: 1, content: `${CITY[1]}; until 2025 in Berlin`, why },
      { op: "merge", ids: [1, 2], content: CITY[1]!, kind: "fact", why },
    ]),
  ).toEqual([
    "supersede refused: record 1 is core",
    "rewrite applied",
    "merge refused: record 1 has changed meanwhile",
  ])
  expect(rig.memories.get(1, OWNER)).toMatchObject({
    ...{ kind: "core", content: `${CITY[1]}; until 2025 in Berlin` },
  })
})

test("a merge with core is core", async () => {
  rig = await sleepRig()
  await rig.save(CITY[0]!, { kind: "core" })
  await rig.save(CITY[2]!)
  rig.clock.advance(3 * DAY_MS)
  expect(
    await nightOf([{ op: "merge", ids: [1, 2], content: CITY.join("; "), kind: "event", why }]),
  ).toEqual(["merge applied"])
  expect(rig.memories.list({ limit: 9 }, OWNER).memories).toMatchObject([{ id: 1, kind: "core" }])
})

test("a contradiction is settled for the newer record, never for the older (SLP-11)", async () => {
  rig = await sleepRig()
  await rig.save(CITY[0]!)
  rig.clock.advance(DAY_MS)
  await rig.save(CITY[1]!)
  rig.clock.advance(3 * DAY_MS)
  expect(
    await nightOf([
      { op: "supersede", id: 2, by: 1, why },
      { op: "supersede", id: 1, by: 1, why },
      { op: "supersede", id: 1, by: 2, why },
    ]),
  ).toEqual([
    "supersede refused: record 1 is not newer than 2",
    "supersede refused: record 1 is not newer than 1",
    "supersede applied",
  ])
  expect(rig.contents()).toEqual({ 2: CITY[1]! })
})

test("what is younger than keep_recent is neither rewritten nor let go, and is looked at again when it is older (SLP-23)", async () => {
  rig = await sleepRig({ memory: { keep_recent: "3days" } })
  await rig.save(CITY[0]!)
  rig.clock.advance(3 * DAY_MS)
  await rig.save(CITY[1]!)
  const plan: Op[] = [
    { op: "merge", ids: [1, 2], content: CITY[1]!, why },
    { op: "rewrite", id: 2, content: CITY[2]!, why },
    { op: "split", id: 2, parts: ["Anna lives in Lisbon", "The park is old"], why },
  ]
  expect(await nightOf(plan)).toEqual(
    ["merge", "rewrite", "split"].map(
      (op) => `${op} refused: record 2 is younger than sleep.memory.keep_recent`,
    ),
  )
  rig.asked.length = 0
  await rig.night()
  expect(rig.asked.filter(({ phase }) => phase === "cluster")).toEqual([])
  rig.clock.advance(3 * DAY_MS)
  expect(await nightOf(plan.slice(0, 1))).toEqual(["merge applied"])
})

test("every operation must say why (SLP-20)", async () => {
  rig = await sleepRig()
  for (const content of CITY) await rig.save(content)
  rig.clock.advance(3 * DAY_MS)
  rig.plan(() => [{ op: "merge", ids: [1, 3], content: CITY[2]!, why: "" }])
  const run = await rig.night()
  expect(run.phases[1]).toMatchObject({ calls: 2, ops: [] })
  expect(run.phases[1]!.note).toContain("operations[0].why")
})

test("a night keeps its limits, and what it had no room for comes the next night (SLP-21)", async () => {
  rig = await sleepRig({ memory: { max_ops: 2, max_forget: 1 } })
  for (const city of ["Berlin", "Lisbon", "Paris", "Rome"])
    await rig.save(`Anna lives in ${city} near the old park`)
  rig.clock.advance(3 * DAY_MS)
  const plan = [1, 2, 3].map((id) => ({ op: "supersede", id, by: 4, why }))
  expect(await nightOf(plan)).toEqual([
    "supersede applied",
    "supersede refused: sleep.memory.max_forget is reached",
    "supersede refused: sleep.memory.max_forget is reached",
  ])
  expect(
    await nightOf([
      { op: "rewrite", id: 2, content: "Anna lived in Lisbon near the old park", why },
      { op: "rewrite", id: 3, content: "Anna lived in Paris near the old park", why },
      { op: "rewrite", id: 4, content: "Anna lives in Rome near an old park", why },
    ]),
  ).toEqual([
    "rewrite applied",
    "rewrite applied",
    "rewrite refused: sleep.memory.max_ops is reached",
  ])
})

test("private stays private and infects a merge; no public record is written where private ones were shown (SLP-24)", async () => {
  rig = await sleepRig()
  await rig.save(CITY[0]!)
  await rig.save(CITY[1]!)
  await rig.save(CITY[2]!, { private: true })
  rig.clock.advance(3 * DAY_MS)
  // The first group holds the public records alone.
  const left: Op[][] = [
    [],
    [
      { op: "rewrite", id: 1, content: CITY[2]!, why },
      { op: "merge", ids: [1, 2], content: CITY[2]!, why },
      { op: "merge", ids: [1, 3], content: CITY[2]!, why },
    ],
  ]
  rig.plan(({ phase }) => (phase === "cluster" ? (left.shift() ?? []) : []))
  const run = await rig.night()
  const groups = rig.asked.filter(({ phase }) => phase === "cluster")
  expect(groups.map(({ shown }) => shown.map(({ id }) => id))).toEqual([
    [1, 2],
    [1, 2, 3],
  ])
  const refused = "refused: private records were shown: a public one is not written from them"
  expect(outcomes(run, "cluster")).toEqual([
    `rewrite ${refused}`,
    `merge ${refused}`,
    "merge applied",
  ])
  expect(rig.memories.get(1, OWNER)).toMatchObject({ private: true, content: CITY[2]! })
  expect(rig.memories.get(2, OWNER)).toMatchObject({ private: false, content: CITY[1]! })
})

test("a split keeps its record as the first part, with kind and privacy; a fact follows from events only (SLP-11)", async () => {
  rig = await sleepRig()
  await rig.save("Anna swims on Mondays in the lake; the boat is painted green", { private: true })
  for (const day of ["Tuesday", "Friday"])
    await rig.save(`Anna swims on ${day} in the lake`, { private: true, kind: "event" })
  rig.clock.advance(3 * DAY_MS)
  expect(
    await nightOf([
      {
        ...{ op: "split", id: 1, why },
        parts: ["Anna swims on Mondays in the lake", "The boat is painted green"],
      },
      { op: "derive", ids: [2, 3], content: "Anna often swims in the lake", why },
      { op: "derive", ids: [2, 3], content: "Boris sells cheap bread daily", why },
      { op: "derive", ids: [1, 3], content: "Anna swims in the lake", why },
    ]),
  ).toEqual([
    "split applied",
    "derive applied",
    "derive refused: the fact does not follow from these events",
    "derive refused: record 1 has changed meanwhile",
  ])
  const rows = rig.memories.corpus(0, 9).map(({ row }) => row)
  expect(rows.map(({ id, kind, content }) => `${id} ${kind} ${content}`)).toEqual([
    "1 fact Anna swims on Mondays in the lake",
    "2 event Anna swims on Tuesday in the lake",
    "3 event Anna swims on Friday in the lake",
    "4 fact The boat is painted green",
    "5 fact Anna often swims in the lake",
  ])
  expect(rows.every((row) => row.private === 1)).toBe(true)
})

test("a merge that drops what a record said is refused", async () => {
  rig = await sleepRig()
  for (const content of CITY) await rig.save(content)
  rig.clock.advance(3 * DAY_MS)
  expect(await nightOf([{ op: "merge", ids: [1, 2], content: "nothing of note", why }])).toEqual([
    "merge refused: the content says too little of record 1",
  ])
})

test("a record that was changed while the model thought is left alone", async () => {
  rig = await sleepRig()
  for (const content of CITY) await rig.save(content)
  rig.clock.advance(3 * DAY_MS)
  rig.plan(({ phase }) => {
    if (phase !== "cluster") return []
    rig.memories.update(2, { content: "Anna lives in Rome near the old park" }, OWNER)
    return [{ op: "merge", ids: [1, 2], content: CITY.join("; "), why }]
  })
  expect(outcomes(await rig.night(), "cluster")).toEqual([
    "merge refused: record 2 has changed meanwhile",
  ])
})
