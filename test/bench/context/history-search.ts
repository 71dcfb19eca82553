/**
 * The search over everything said, as the tool asks for it: through the thread, ten hits a page, warm. Beside it
 * the longest hold of the event loop, while searches run and while new messages are indexed.
 */
import { statSync } from "node:fs"
import { createHistory, type History } from "../../../src/history/history.ts"
import { systemClock } from "../../../src/lib/clock.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { openStore, type Store } from "../../../src/store/open.ts"
import type { Bench } from "../bench.ts"
import { tempFolder } from "../kernel-process.ts"
import type { Row } from "../report.ts"
import { median, quantile } from "../statistics.ts"
import { anyWord, fillHistory, randomNumbers, vocabulary } from "./fill-history.ts"

const MESSAGES = { full: 1_000_000, quick: 50_000 }
const SEARCHES = { full: 600, quick: 200 }
const WARM_UP = 40
/** New messages for the indexer, as a busy hour brings them. */
const NEW_MESSAGES = 2000

export const historySearch: Bench = {
  name: "history-search",
  run: async ({ quick, say }) => {
    const size = quick ? "quick" : "full"
    using folder = tempFolder()
    const store = openStore({ path: folder.database, log: silentLog })
    const history = createHistory({ store, clock: systemClock, log: silentLog })
    try {
      fillHistory(store, MESSAGES[size], say)
      const bytes = statSync(folder.database).size
      const { times, longestHold } = await measureSearches(history, SEARCHES[size])
      const indexing = await measureIndexing(store, history)
      return rowsOf({ messages: MESSAGES[size], times, longestHold, bytes, ...indexing })
    } finally {
      await history.close()
      store.close()
    }
  },
}

/** A frequent word, a rare one, a part of one, two words of which nobody knows, all in turn. */
function needleOf(index: number, words: readonly string[], random: () => number) {
  const rare = words[Math.floor(random() * words.length)]!
  const frequent = anyWord(words, random)
  const kinds = [
    { query: frequent, match: "text" },
    { query: rare, match: "words" },
    { query: rare.slice(1), match: "text" },
    { query: `${frequent} ${rare}`, match: "words" },
    { query: `${frequent} ${anyWord(words, random)}`, match: "text" },
  ] as const
  return kinds[index % kinds.length]!
}

async function measureSearches(history: History, count: number) {
  const words = vocabulary()
  const random = randomNumbers(3)
  const times: number[] = []
  const holds = watchLoop()
  for (let index = 0; index < count + WARM_UP; index++) {
    const needle = needleOf(index, words, random)
    const start = performance.now()
    await history.search({ ...needle, limit: 10, context: 0, includeService: false })
    if (index >= WARM_UP) times.push(performance.now() - start)
  }
  return { times, longestHold: holds.stop() }
}

async function measureIndexing(store: Store, history: History) {
  const words = vocabulary()
  const random = randomNumbers(4)
  const chat = store.db.query<{ id: string }, []>("SELECT id FROM chats LIMIT 1").get()!.id
  const insert = store.db.query(
    `INSERT INTO messages (id, chat_id, role, blocks, master, created_at) VALUES (?, ?, 'user', ?, 1, 0)`,
  )
  store.write(() => {
    for (let n = 0; n < NEW_MESSAGES; n++) {
      const text = Array.from({ length: 40 }, () => anyWord(words, random)).join(" ")
      insert.run(`7fffffff-${n}`, chat, JSON.stringify([{ type: "text", text }]))
    }
  })
  const holds = watchLoop()
  const start = performance.now()
  await history.search({
    query: "nothing of it",
    match: "text",
    limit: 1,
    context: 0,
    includeService: false,
  })
  const ms = performance.now() - start
  return { indexingHold: holds.stop(), indexingUs: (1000 * ms) / NEW_MESSAGES }
}

/** How much longer than asked for a short timer took at worst. */
function watchLoop(): { stop(): number } {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last - 1)
    last = now
  }, 1)
  return {
    stop: () => {
      clearInterval(timer)
      return longest
    },
  }
}

interface Figures {
  messages: number
  times: number[]
  longestHold: number
  indexingHold: number
  indexingUs: number
  bytes: number
}

function rowsOf(figures: Figures): Row[] {
  const over = `over ${figures.messages.toLocaleString("en")} messages`
  const isFull = figures.messages === MESSAGES.full
  const goal = (max: number) => (isFull ? { goal: { max } } : {})
  return [
    {
      figure: `history_search ${over}, p50`,
      measured: median(figures.times),
      unit: "ms",
      ...goal(30),
    },
    {
      figure: `history_search ${over}, p99`,
      measured: quantile(figures.times, 0.99),
      unit: "ms",
      ...goal(150),
    },
    {
      figure: "event loop held while searches run, longest",
      measured: figures.longestHold,
      unit: "ms",
      ...goal(20),
    },
    {
      figure: "event loop held while messages are indexed, longest",
      measured: figures.indexingHold,
      unit: "ms",
      ...goal(20),
    },
    {
      figure: "indexing of a message of 40 words, with its waits",
      measured: figures.indexingUs,
      unit: "µs",
    },
    { figure: `database ${over}`, measured: figures.bytes / 1024 ** 2, unit: "MiB" },
  ]
}
