/**
 * A generated life: memories of three simulated years with contradictions, repetitions, private facts and noise,
 * and nights planned by a script that knows nothing but what is shown to it.
 */
import { OWNER } from "../../src/memory/memories.ts"
import type { MemoryRow } from "../../src/memory/store/memory-table.ts"
import type { SleepRun } from "../../src/schema/sleep.ts"
import { type Asked, DAY_MS, type Op, type SleepRig } from "./rig.ts"

/** The same numbers for the same seed. */
export function dice(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const NAMES =
  "Anna Boris Carl Dora Emil Frida Gustav Hanna Igor Jana Kurt Lena Mila Nora Otto".split(" ")
const CITIES = "Berlin Lisbon Paris Rome Oslo Vienna Prague Madrid Dublin Athens".split(" ")
const THINGS = "violin chess pottery archery sailing botany calligraphy fencing astronomy".split(
  " ",
)
const NOISE = "bus rain coffee printer parcel elevator traffic umbrella battery ticket".split(" ")

/** So many of them are told of again and again. */
const PUPILS = 5

export interface LifeEvent {
  content: string
  kind: "core" | "fact" | "event"
  importance: number
  private: boolean
  /** A repetition or a trifle: what a tidy memory does without. */
  junk: boolean
}

/** Marks the words of private records; nothing public holds it. */
export const SECRET = "sekret"

/** What is remembered on one occasion. */
export function occasion(roll: (below: number) => number, number: number): LifeEvent {
  const name = `${NAMES[roll(NAMES.length)]} ${String.fromCharCode(65 + roll(26))}${roll(40)}`
  const thing = THINGS[roll(THINGS.length)]!
  const plain = { kind: "fact" as const, importance: 3, private: false, junk: false }
  switch (roll(20)) {
    case 0:
      return {
        ...plain,
        kind: "core",
        importance: 5,
        content: `Master rule ${number}: be kind to ${name}`,
      }
    case 1:
    case 2:
      return {
        ...plain,
        private: true,
        content: `${SECRET} ${name} won prize ${number} in ${thing} at ${CITIES[roll(CITIES.length)]}, and lost ${roll(900)}`,
      }
    case 3:
    case 4:
    case 5:
      return {
        ...plain,
        content: `${name} lives now in ${CITIES[roll(CITIES.length)]} beside the harbour`,
      }
    case 6:
    case 7:
    case 8:
    case 9: {
      const one = NAMES[roll(PUPILS)]!
      return {
        ...plain,
        junk: true,
        content: `${one} practices ${thing} every single week at school`,
      }
    }
    case 10:
    case 11:
    case 12:
    case 13:
    case 14: {
      const what = NOISE[roll(NOISE.length)]!
      const trifle = { kind: "event" as const, importance: 1 + roll(2), private: false, junk: true }
      return { ...trifle, content: `The ${what} number ${roll(5000)} was late again this morning` }
    }
    default:
      return {
        ...plain,
        importance: 4,
        content: `${name} won prize ${number} in ${thing} at ${CITIES[roll(CITIES.length)]}`,
      }
  }
}

const kindOfLine = (line: string): string => /^#\d+ (\w+),/.exec(line)![1]!
const contentOf = (line: string): string => line.slice(line.indexOf(": ") + 2)
const isTouchable = (line: string): boolean => !/^#\d+ [^:]*\brecent\b/.test(line)

/** Merges what reads alike, lets the newer address win, forgets all that it may, and tries what it may not. */
export function scriptedPlan({ phase, shown }: Asked): Op[] {
  const why = "a script says so"
  if (phase === "forget") return shown.map(({ id }) => ({ op: "forget", id, why }))
  if (phase === "kinds") {
    return shown.slice(0, 2).map(({ id, line }) => ({
      ...{ op: "importance", id, why },
      importance: kindOfLine(line) === "core" ? 5 : 3,
    }))
  }
  const ops: Op[] = []
  const groups = Map.groupBy(
    shown.filter(({ line }) => isTouchable(line)),
    ({ line }) => contentOf(line),
  )
  for (const [content, members] of groups) {
    if (members.length < 2) continue
    ops.push({ op: "merge", ids: members.map(({ id }) => id), content, why })
  }
  const addresses = Map.groupBy(
    shown.filter(({ line }) => contentOf(line).includes(" lives now in ")),
    ({ line }) => contentOf(line).split(" lives")[0]!,
  )
  for (const members of addresses.values()) {
    const newest = members.toSorted((a, b) => a.id - b.id).at(-1)!
    for (const { id, line } of members) {
      if (id !== newest.id && contentOf(line) !== contentOf(newest.line))
        ops.push({ op: "supersede", id, by: newest.id, why })
    }
  }
  // What no plan may do: the kernel must refuse it each time.
  const [first] = shown
  if (first && kindOfLine(first.line) === "core")
    ops.push({ op: "supersede", id: first.id, by: shown.at(-1)!.id, why })
  const secret = shown.find(({ line }) => line.includes(SECRET))
  const open = shown.find(({ line }) => !line.includes(SECRET))
  if (secret && open)
    ops.push({
      op: "rewrite",
      id: open.id,
      content: `${contentOf(open.line)} ${contentOf(secret.line)}`,
      why,
    })
  return ops
}

export interface LifeOptions {
  rig: SleepRig
  memories: number
  nights: number
  /** Of the whole life. */
  days: number
  seed: number
  limits: { ops: number; forgets: number; keepRecentMs: number }
  /** Told of each night, counted from 1. */
  told?: (number: number, night: LifeNight) => void
}

export interface LifeNight {
  run: SleepRun
  calls: number
  memories: number
  /** Share of what the generator knows to be junk. */
  junk: number
  /** The same share of all that was ever saved. */
  junkSaved: number
  ms: number
}

/** Lives and sleeps; complaints about whatever a night broke, in words. */
export async function liveAndSleep(options: LifeOptions): Promise<{
  nights: LifeNight[]
  complaints: string[]
}> {
  const { rig, memories: total, nights: count, days, seed } = options
  const roll = dice(seed)
  const junkIds = new Set<number>()
  const nights: LifeNight[] = []
  const complaints: string[] = []
  const perNight = Math.ceil(total / count)
  let number = 0
  for (let night = 0; night < count; night++) {
    for (let i = 0; i < perNight && number < total; i++, number++) {
      const { junk, ...event } = occasion(roll, number)
      const id = await rig.save(event.content, event)
      if (junk) junkIds.add(id)
    }
    if (roll(2) === 0) {
      const text = `${NAMES[roll(PUPILS)]} practices ${THINGS[roll(THINGS.length)]}`
      await rig.memories.search({ text, limit: 5, reinforce: true }, OWNER)
    }
    rig.clock.advance((days / count) * DAY_MS)
    rig.asked.length = 0
    const before = rowsById(rig)
    const started = performance.now()
    const run = await rig.night()
    const ms = performance.now() - started
    const after = rowsById(rig)
    complaints.push(
      ...broken(options, { run, before, after, rig }).map((one) => `night ${night}: ${one}`),
    )
    const junk = countJunk(after, junkIds)
    const lived: LifeNight = {
      ...{ run, ms, calls: rig.asked.length, memories: after.size },
      ...{ junk: junk / after.size, junkSaved: junkIds.size / number },
    }
    nights.push(lived)
    options.told?.(nights.length, lived)
  }
  return { nights, complaints }
}

type Rows = Map<number, MemoryRow>

const rowsById = (rig: SleepRig): Rows =>
  new Map(rig.memories.corpus(0, 1e6).map(({ row }) => [row.id, row]))

/** Trifles, and repetitions of words that an earlier record holds. */
function countJunk(rows: Rows, junkIds: ReadonlySet<number>): number {
  const said = new Set<string>()
  let junk = 0
  for (const { id, kind, content } of rows.values()) {
    if (junkIds.has(id) && (kind === "event" || said.has(content))) junk++
    said.add(content)
  }
  return junk
}

function broken(
  { limits, memories: _total }: LifeOptions,
  { run, before, after, rig }: { run: SleepRun; before: Rows; after: Rows; rig: SleepRig },
): string[] {
  const wrong: string[] = []
  const applied = run.phases.flatMap(({ ops }) =>
    ops.filter(({ outcome }) => outcome === "applied"),
  )
  if (run.state !== "done") wrong.push(`ended ${run.state}`)
  if (applied.length > limits.ops) wrong.push(`${applied.length} operations`)
  const forgotten = applied.filter(({ op }) => op.op === "forget" || op.op === "supersede")
  if (forgotten.length > limits.forgets) wrong.push(`${forgotten.length} let go`)
  for (const [id, row] of before) {
    const now = after.get(id)
    if (!now && row.kind === "core" && !isMerged(applied, id)) wrong.push(`core ${id} was erased`)
    if (now && row.private === 1 && now.private === 0) wrong.push(`private ${id} was opened`)
    const young = rig.clock.now() - Math.max(row.created_at, row.updated_at) < limits.keepRecentMs
    if (young && now?.content !== row.content) wrong.push(`young ${id} was touched`)
    if (!now && !rig.memories.isArchived(id)) wrong.push(`${id} is lost`)
  }
  for (const row of after.values()) {
    if (row.private === 0 && row.content.includes(SECRET)) wrong.push(`${row.id} tells a secret`)
  }
  const letGo = new Set(forgotten.map(({ op }) => op.id))
  const hits = (rows: Rows) =>
    [...rows.values()].reduce((sum, row) => sum + (letGo.has(row.id) ? 0 : row.hits), 0)
  if (hits(before) !== hits(after)) wrong.push("the history of access does not add up")
  return wrong
}

const isMerged = (applied: SleepRun["phases"][number]["ops"], id: number): boolean =>
  applied.some(({ op }) => op.op === "merge" && (op.ids as number[]).includes(id))
