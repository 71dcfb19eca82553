/** Nights through a whole kernel: what is asked, what is applied, what it costs. */
import { afterEach, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { OWNER } from "../../src/memory/memories.ts"
import { tempFolder } from "../support/kernel.ts"
import { puppetModel } from "../support/puppet-model.ts"
import { DAY_MS, finish, outcomes, type SleepRig, sleepRig } from "./rig.ts"

let rig: SleepRig
afterEach(() => rig.dispose())

const VIOLIN = [
  "Anna plays the violin in the city orchestra",
  "Anna plays violin and cello in the city orchestra",
]

/** Merges every group into its longest text. */
const mergeAll = ({ phase, shown }: { phase: string; shown: { id: number; line: string }[] }) => {
  if (phase !== "cluster") return []
  const texts = shown.map(({ line }) => line.slice(line.indexOf(": ") + 2))
  const content = texts.toSorted((a, b) => b.length - a.length)[0]!
  return [{ op: "merge", ids: shown.map(({ id }) => id), content, why: "they say the same" }]
}

test("merges what says the same under the id asked for most, sums what they were asked for; a second night on the same corpus asks nothing (SLP-9, SLP-11, SLP-12, SLP-25)", async () => {
  rig = await sleepRig({ planner: mergeAll })
  for (const content of VIOLIN) await rig.save(content)
  await rig.save("Boris sells bread at the market")
  await rig.memories.search({ text: VIOLIN[1]!, limit: 1, reinforce: true }, OWNER)
  await rig.memories.search({ text: VIOLIN[1]!, limit: 2, reinforce: true }, OWNER)
  const hits = rig.memories.corpus(0, 9).reduce((sum, { row }) => sum + row.hits, 0)
  rig.clock.advance(2 * DAY_MS)
  const first = await rig.night()
  expect(first.phases.map(({ name }) => name)).toEqual(["hygiene", "cluster", "forget", "kinds"])
  expect(first.phases.map(({ calls }) => calls)).toEqual([0, 1, 0, 1])
  expect(outcomes(first, "cluster")).toEqual(["merge applied"])
  const left = rig.memories.corpus(0, 9).map(({ row }) => row)
  expect(left.map(({ id }) => id).sort()).toEqual([2, 3])
  expect(left.reduce((sum, row) => sum + row.hits, 0)).toBe(hits)
  rig.asked.length = 0
  const second = await rig.night()
  expect(rig.asked).toEqual([])
  expect(second.phases.map(({ calls }) => calls)).toEqual([0, 0, 0, 0])
})

test("the planning call thinks, forces the only tool, has no ceiling and bears the persona; its spend is booked by phase (SLP-15, SLP-16, SLP-17, SLP-18, SLP-40, LLM-036)", async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, "persona.md"), "You are Eva, who never forgets a face.")
  rig = await sleepRig({
    ...{ planner: mergeAll, folder },
    more: {
      llm: { model: { smartest: "other" }, reasoning: "off" },
      memory: { half_life: "1day" },
      persona: { file: join(folder, "persona.md") },
    },
  })
  for (const content of VIOLIN) await rig.save(content, { importance: 1 })
  await rig.save("The bus was late on Tuesday", { importance: 1 })
  rig.clock.advance(3 * DAY_MS)
  await rig.night()
  expect(rig.asked.map(({ phase }) => phase)).toEqual(["cluster", "forget", "kinds"])
  for (const { request } of rig.asked) {
    expect(request).toMatchObject({
      ...{ model: "other", effort: "high", toolChoice: { name: "sleep_finish" } },
    })
    expect(request.tools.map(({ name }) => name)).toEqual(["sleep_finish"])
    expect(request.maxTokens).toBeUndefined()
    expect(request.system[0]!.text).toBe("You are Eva, who never forgets a face.")
  }
  expect(rig.kernel.api.registry.get("sleep_finish")).toBeUndefined()
  const { day } = await rig.kernel.api.spend.stats({ zone: "UTC" })
  expect(Object.keys(sourcesOf(day)).sort()).toEqual([
    "sleep:cluster",
    "sleep:forget",
    "sleep:kinds",
  ])
})

function sourcesOf(day: unknown): Record<string, unknown> {
  const { by_source } = day as { by_source: Record<string, unknown> | { source: string }[] }
  return Array.isArray(by_source)
    ? Object.fromEntries(by_source.map((one) => [one.source, one]))
    : by_source
}

test("a plan that breaks its schema is asked for once more with the error; one cut off is named and not repeated (SLP-19, SLP-34, LLM-036)", async () => {
  const answers = [
    finish([{ op: "merge", ids: [1, 2], content: VIOLIN[0] }]),
    finish([{ op: "merge", ids: [1, 2], content: VIOLIN[0], why: "same" }]),
    { ...finish([]), stop: "length" as const },
  ]
  rig = await sleepRig({ planner: () => answers.shift() ?? [] })
  for (const content of VIOLIN) await rig.save(content)
  rig.clock.advance(2 * DAY_MS)
  const run = await rig.night()
  expect(outcomes(run, "cluster")).toEqual(["merge applied"])
  const [, second] = rig.asked
  expect(JSON.stringify(second!.request.messages)).toContain(
    "Your last plan was refused: operations[0].why: Expected required property",
  )
  const kinds = run.phases.find(({ name }) => name === "kinds")!
  expect(kinds).toMatchObject({
    calls: 1,
    note: "the plan was cut off by the token limit",
    ops: [],
  })
})

test("a plan in prose is read all the same (SLP-17)", async () => {
  const say = `Here you are:\n\`\`\`json\n${JSON.stringify([
    { op: "merge", ids: [1, 2], content: VIOLIN[0], why: "same" },
  ])}\n\`\`\``
  const model = puppetModel()
  rig = await sleepRig({ more: { llm: { provider: "openai", base_url: model.url } } })
  for (const content of VIOLIN) await rig.save(content)
  rig.clock.advance(2 * DAY_MS)
  const night = rig.night()
  await model.answers(say)
  await model.answers('I change nothing: {"operations": []}')
  const run = await night
  await model.stop()
  expect(outcomes(run, "cluster")).toEqual(["merge applied"])
  expect(run.phases[3]).toMatchObject({ name: "kinds", calls: 1, note: null, ops: [] })
})

test("a failed call leaves its group for the next night", async () => {
  let broken = true
  rig = await sleepRig({
    planner: (asked) => (broken ? { fail: "fatal" } : mergeAll(asked)),
  })
  for (const content of VIOLIN) await rig.save(content)
  rig.clock.advance(2 * DAY_MS)
  const first = await rig.night()
  expect(first).toMatchObject({ state: "done" })
  expect(first.phases[1]!.note).not.toBeNull()
  broken = false
  expect(outcomes(await rig.night(), "cluster")).toEqual(["merge applied"])
})

test("a dry run writes its plan to the journal and changes nothing (SLP-32)", async () => {
  rig = await sleepRig({ planner: mergeAll, sleep: { dry_run: true } })
  for (const content of VIOLIN) await rig.save(content)
  rig.clock.advance(2 * DAY_MS)
  const before = rig.memories.corpus(0, 9).map(({ row }) => row)
  const run = await rig.night()
  expect(run).toMatchObject({ dry_run: true, state: "done" })
  expect(outcomes(run, "cluster")).toEqual(["merge planned"])
  expect(rig.memories.corpus(0, 9).map(({ row }) => row)).toEqual(before)
  expect(rig.memories.archived({ limit: 9, offset: 0 })).toEqual([])
})

test("candidates for forgetting are computed, and a plan can only shorten the list (SLP-13)", async () => {
  rig = await sleepRig({
    planner: ({ phase, shown }) =>
      phase === "forget"
        ? [...shown.slice(0, 1), { id: 3 }, { id: 99 }].map(({ id }) => ({
            ...{ op: "forget", id, why: "a trifle" },
          }))
        : [],
    more: { memory: { half_life: "10days" } },
  })
  await rig.save("The bus was late", { importance: 2 })
  await rig.save("Rain on Sunday afternoon", { importance: 1 })
  await rig.save("Carl was born in May", { importance: 3 })
  await rig.save("The master is called Vera", { importance: 1, kind: "core" })
  rig.clock.advance(25 * DAY_MS)
  await rig.save("Cinema yesterday", { importance: 1, kind: "event" })
  const run = await rig.night()
  const call = rig.asked.find(({ phase }) => phase === "forget")!
  expect(call.shown.map(({ id }) => id)).toEqual([2, 1])
  expect(outcomes(run, "forget")).toEqual([
    "forget applied",
    "forget refused: record 3 was not shown",
    "forget refused: record 99 was not shown",
  ])
  expect(rig.memories.archived({ limit: 9, offset: 0 })).toMatchObject([
    { id: 2, archived_by: "sleep", reason: "a trifle" },
  ])
  // What a model has spared is not put before it the next night.
  rig.asked.length = 0
  await rig.night()
  expect(rig.asked.filter(({ phase }) => phase === "forget")).toEqual([])
})

test("kinds and importance are looked at over the whole corpus in one call, and core keeps to its room (SLP-14)", async () => {
  rig = await sleepRig({
    planner: ({ phase }) =>
      phase === "kinds"
        ? [
            { op: "kind", id: 1, kind: "core", why: "asked for daily" },
            { op: "kind", id: 2, kind: "fact", why: "dead" },
            { op: "importance", id: 3, importance: 2, why: "a trifle" },
            { op: "kind", id: 3, kind: "core", why: "too long" },
          ]
        : [],
    more: { memory: { prompt_budget: 100 } },
  })
  await rig.save("Anna is the sister of the master")
  await rig.save("Works at the mill", { kind: "core" })
  await rig.save("Likes long walks by the river on autumn evenings, always alone", {
    importance: 5,
  })
  rig.clock.advance(2 * DAY_MS)
  const run = await rig.night()
  expect(rig.asked.filter(({ phase }) => phase === "kinds")).toHaveLength(1)
  expect(outcomes(run, "kinds")).toEqual([
    "kind applied",
    "kind applied",
    "importance applied",
    "kind refused: core has no room for it",
  ])
  expect(rig.memories.corpus(0, 9).map(({ row }) => [row.kind, row.importance])).toEqual([
    ["core", 3],
    ["fact", 3],
    ["fact", 2],
  ])
})

test("each night tells size and junk before and after (SLP-33)", async () => {
  rig = await sleepRig({ planner: mergeAll })
  for (const content of [...VIOLIN, VIOLIN[0]!]) await rig.save(content)
  await rig.save("Boris sells bread at the market", { kind: "core" })
  rig.clock.advance(2 * DAY_MS)
  expect(await rig.night()).toMatchObject({
    before: { memories: 4, core: 1, junk_rate: 0.25 },
    after: { memories: 2, core: 1, junk_rate: 0 },
  })
})

test("what was forgotten longer ago than archive_ttl is erased, and leaves the journal of nights (MEM-32, SLP-9)", async () => {
  rig = await sleepRig({ planner: mergeAll, memory: { archive_ttl: "10days" } })
  for (const content of VIOLIN) await rig.save(content)
  await rig.save("Boris sells bread")
  rig.clock.advance(2 * DAY_MS)
  const first = await rig.night()
  rig.clock.advance(9 * DAY_MS)
  await rig.night()
  expect(rig.memories.archived({ limit: 9, offset: 0 })).toHaveLength(1)
  rig.clock.advance(2 * DAY_MS)
  const last = await rig.night()
  expect(rig.memories.archived({ limit: 9, offset: 0 })).toEqual([])
  expect(last.phases[0]!.note).toBe("1 archived records were erased")
  expect(JSON.stringify(rig.sleep.run(first.id))).not.toContain("orchestra")
})

test("a purged record leaves the journal of nights", async () => {
  rig = await sleepRig({ planner: mergeAll })
  for (const content of VIOLIN) await rig.save(content)
  rig.clock.advance(2 * DAY_MS)
  const run = await rig.night()
  expect(JSON.stringify(rig.sleep.run(run.id))).toContain("orchestra")
  await rig.memories.purge(1)
  expect(JSON.stringify(rig.sleep.run(run.id))).not.toContain("orchestra")
})

test("a large import is tidied over several nights (SLP-12)", async () => {
  rig = await sleepRig()
  const pairs = 130
  for (let i = 0; i < pairs; i++) {
    await rig.save(`subject${i} resembles object${i} greatly`)
    await rig.save(`subject${i} resembles object${i} closely`)
  }
  rig.clock.advance(2 * DAY_MS)
  const calls = async () => (await rig.night()).phases[1]!
  expect(await calls()).toMatchObject({ calls: 120, note: "10 groups wait for the next night" })
  expect(await calls()).toMatchObject({ calls: 10, note: null })
  expect(await calls()).toMatchObject({ calls: 0 })
})

test("a small corpus costs nothing: the stage is skipped (SLP-5)", async () => {
  rig = await sleepRig({ memory: { min_memories: 50 } })
  for (let i = 0; i < 49; i++) await rig.save(`fact number ${i}`)
  rig.clock.advance(2 * DAY_MS)
  expect(rig.sleep.look()).toBe(false)
  expect(() => rig.sleep.start()).toThrow("there is nothing to tidy")
  expect(rig.kernel.requests).toEqual([])
})
