/**
 * kill -9 under load, many times over: on one database a kernel is started, several clients talk to it at
 * once, and it is killed at a random moment. The next one must still have every message that was
 * acknowledged, exactly once, a sound file, and a next turn in every chat.
 *
 * EVA_KILL_ROUNDS (200) and EVA_KILL_SEED (random, printed on failure) steer it. A slow machine gets as far as
 * it comes in some minutes.
 */
import { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { copyFileSync, existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { deferred } from "../../src/lib/async.ts"
import { parseJson } from "../../src/lib/json.ts"
import { SETUP_MS } from "../support/patience.ts"
import { CONFIG, createPlace, type Place, type Served, serve } from "../support/served.ts"

const ROOT = join(import.meta.dir, "../..")
const ROUNDS = Number(process.env.EVA_KILL_ROUNDS ?? 200)
const SEED = Number(process.env.EVA_KILL_SEED ?? Math.floor(Math.random() * 2 ** 31))
/** A kernel is killed after up to so many acknowledgements and up to so many milliseconds more. */
const ACKNOWLEDGED_MAX = 14
const FURTHER_MAX_MS = 40
/** Kernels of which nobody waits for anything but these milliseconds. */
const EARLY_SHARE = 0.2
const CHATS = 4
const CLIENTS = 6
/** SQLite's own check of the whole file, which takes longer with every round. */
const CHECK_EVERY = 10
const ENOUGH_MS = Math.max(180_000, ROUNDS * 1000)

let place: Place
let binary: string

beforeAll(async () => {
  place = createPlace()
  binary = place.path("eva-kernel")
  const build = Bun.spawn([process.execPath, "scripts/build.ts", "--outfile", binary], {
    cwd: ROOT,
    stdout: "ignore",
    stderr: "inherit",
  })
  if ((await build.exited) !== 0) throw new Error("the executable could not be built")
  place.write("config.json", { ...CONFIG, log: { level: "warn" }, tools: { dir: "tools.d" } })
  // A tool in a process of its own, long enough to be hit by a kill.
  place.write(
    "tools.d/nap.toml",
    'name = "nap"\ndescription = "Takes a nap."\ncommand = ["sleep", "0.03"]\n',
  )
}, SETUP_MS)
afterAll(() => place.remove())

/** Numbers in [0, 1) that a seed gives again: mulberry32, by Tommy Ettinger (public domain). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const PLANS = [
  "",
  'mock-plan: [{"call": "person_list"}, {"call": "nap"}, {"say": "One after another."}]',
  'mock-plan: [{"calls": [{"name": "nap"}, {"name": "person_list"}, {"name": "nap"}]}, {"say": "All at once."}]',
  'mock-plan: [{"say": "Slowly.", "delay_ms": 20}, {"call": "nap"}, {"think": "Hm."}, {"say": "Done."}]',
]

/** What the clients know, over all kernels. */
interface Knowledge {
  /** Called with each acknowledgement. */
  onAcknowledged(): void
  /** Id of each acknowledged message → the words it must have. */
  acknowledged: Map<string, string>
  /** Sends with a key that got no answer: to be repeated, word by word. */
  unanswered: { chat: string; text: string; key: string }[]
  chats: string[]
  lastWord: number
}

/** The last event of a turn; nothing when the kernel was killed before it. */
async function endOfNextTurn(kernel: Served, chat: string): Promise<string | undefined> {
  try {
    return (await kernel.turn(chat, "Well?")).at(-1)?.type
  } catch {
    return undefined
  }
}

/** Settles when so many more messages are acknowledged. */
function acknowledgements(known: Knowledge, count: number): Promise<void> {
  const { promise, resolve } = deferred()
  let left = count
  known.onAcknowledged = () => {
    if (--left <= 0) resolve()
  }
  if (count === 0) resolve()
  return promise
}

/** One client's talk until the kernel is gone. */
async function talk(kernel: Served, known: Knowledge, random: () => number): Promise<void> {
  const repeats = known.unanswered.splice(0, 1)
  for (;;) {
    const repeat = repeats.pop()
    const chat = repeat?.chat ?? known.chats[Math.floor(random() * known.chats.length)]!
    const word = `word-${++known.lastWord}`
    const plan = PLANS[Math.floor(random() * PLANS.length)]!
    const text = repeat?.text ?? `${word}.\n${plan}`.trim()
    const key = repeat?.key ?? (random() < 0.5 ? word : undefined)
    const silent = !repeat && key === undefined && random() < 0.5
    let isKnown = false
    const acknowledge = (ids: unknown) => {
      for (const id of ids as string[]) known.acknowledged.set(id, text)
      isKnown = true
      known.onAcknowledged()
    }
    try {
      if (silent) {
        const path = `/v1/chats/${chat}/messages`
        const reply = await kernel.call("POST", path, { body: { text, silent } })
        if (reply.status === 202) acknowledge(reply.json.message_ids)
        continue
      }
      const body = { text, ...(key && { client_key: key }) }
      for await (const event of kernel.send(chat, body)) {
        if (event.type === "accepted") acknowledge(event.message_ids)
      }
    } catch {
      // The kernel was killed.
      if (!isKnown && key) known.unanswered.push({ chat, text, key })
      return
    }
  }
}

interface Row {
  id: string
  role: string
  blocks: string
}

/** Reads what a kernel left as SQLite recovers it, on a copy: the next kernel must do that by itself. */
function readCopy<T>(read: (db: Database) => T): T {
  const copy = place.path("copy.db")
  for (const end of ["", "-wal"]) {
    rmSync(copy + end, { force: true })
    if (existsSync(place.path(`eva.db${end}`))) copyFileSync(place.path(`eva.db${end}`), copy + end)
  }
  rmSync(`${copy}-shm`, { force: true })
  using db = new Database(copy)
  return read(db)
}

/** Acknowledged messages that are missing or changed, and words that are there twice. */
function losses(db: Database, known: Knowledge): string[] {
  const rows = db.query<Row, []>("SELECT id, role, blocks FROM messages WHERE role = 'user'").all()
  const said = new Map(rows.map(({ id, blocks }) => [id, textOf(blocks)]))
  const words = [...said.values()].flatMap((text) => /^word-\d+\./.exec(text ?? "")?.[0] ?? [])
  const lost = [...known.acknowledged].filter(([id, text]) => said.get(id) !== text)
  const seen = new Set<string>()
  const twice = words.filter((word) => seen.size === seen.add(word).size)
  return [
    ...lost.map(([id, text]) => `lost or changed: ${id} ${text}`),
    ...twice.map((word) => `stored twice: ${word}`),
  ]
}

const textOf = (blocks: string): string | undefined =>
  (parseJson(blocks) as { text?: string }[])[0]?.text

/** Calls without a result: a kill fell between the two. */
const openCalls = (db: Database): number =>
  db
    .query<{ count: number }, []>(
      `WITH block AS (
         SELECT json_extract(value, '$.type') AS type, turn_id || json_extract(value, '$.id') AS id
         FROM messages, json_each(messages.blocks))
       SELECT count(*) AS count FROM block WHERE type = 'tool_use'
         AND id NOT IN (SELECT id FROM block WHERE type = 'tool_result')`,
    )
    .get()!.count

const startKernel = (): Promise<Served> =>
  serve({ place, args: ["--config", "config.json"], program: [binary] })

test(
  `kill -9 at a random moment under load, up to ${ROUNDS} times (seed ${SEED}): nothing acknowledged is lost, the file is sound, every chat goes on`,
  async () => {
    const random = randomOf(SEED)
    const known: Knowledge = {
      acknowledged: new Map(),
      unanswered: [],
      chats: [],
      lastWord: 0,
      onAcknowledged: () => {},
    }
    const startedMs = performance.now()
    let round = 0
    for (let isLast = false; !isLast; round++) {
      isLast = round === ROUNDS - 1 || performance.now() - startedMs > ENOUGH_MS
      const kernel = await startKernel()
      while (known.chats.length < CHATS) known.chats.push(await kernel.newChat("Under load"))
      // Every chat's next turn works, whatever the kill has left in it. Some kernels die before they can tell.
      const isEarly = random() < EARLY_SHARE
      const ends = Promise.all(known.chats.map((chat) => endOfNextTurn(kernel, chat)))
      const busy = acknowledgements(known, Math.floor(random() * ACKNOWLEDGED_MAX))
      const clients = Array.from({ length: CLIENTS }, () => talk(kernel, known, random))
      if (!isEarly) {
        expect({ round, ends: await ends }).toEqual({ round, ends: known.chats.map(() => "done") })
        await busy
      }
      await Bun.sleep(random() * FURTHER_MAX_MS)
      await kernel.kill()
      await Promise.all([ends, ...clients])

      const isChecked = round % CHECK_EVERY === 0 || isLast
      const found = readCopy((db) => ({
        losses: losses(db, known),
        check: isChecked ? Object.values(db.query("PRAGMA integrity_check").get()!)[0] : "ok",
      }))
      expect({ round, ...found }).toEqual({ round, losses: [], check: "ok" })
      // Long histories would make this a test of patience: the talk moves on to new chats.
      if (round % 25 === 24) known.chats = []
    }
    const calls = readCopy(openCalls)
    process.stdout.write(
      `kill: ${round} kernels, ${known.acknowledged.size} acknowledged messages, ${calls} calls cut off from their results\n`,
    )
    expect(known.acknowledged.size).toBeGreaterThan(round)
    expect(calls).toBeGreaterThan(round / 20)
  },
  ENOUGH_MS + SETUP_MS,
)
