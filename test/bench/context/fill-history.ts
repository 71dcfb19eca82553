/** A database with very many messages that all differ, and the index over them. */
import { fold } from "../../../src/history/fold.ts"
import { indexedText } from "../../../src/history/indexed-text.ts"
import { saidIn } from "../../../src/history/said.ts"
import { createIndexTable } from "../../../src/history/store/index-table.ts"
import type { Store } from "../../../src/store/open.ts"

const CHATS = 2000
const WORDS = 30_000
/** In one transaction: large ones make few and large parts. */
const BATCH = 5000
const MERGE_PAGES = 1000

const combine = (onsets: string, vowels: string): string[] =>
  onsets.split(" ").flatMap((onset) => vowels.split(" ").map((vowel) => onset + vowel))

/** Of two scripts, as many each as make about as many groups of three letters as a language has. */
const SYLLABLES = [
  combine("b c d f g h k l m n p r s t v st tr pr ch sh", "a e i o u ai ea ou er in"),
  combine("б в г д ж з к л м н п р с т х ст тр пр ч ш", "а е и о у ы ой ел ан ин"),
]

/** The same numbers each time. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
}

/** A vocabulary in two scripts; the first words are the frequent ones, as in every language. */
export function vocabulary(): string[] {
  const random = randomNumbers(1)
  return Array.from({ length: WORDS }, (_, index) => {
    const syllables = SYLLABLES[index % 2]!
    const length = 1 + Math.floor(random() * 4)
    return Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join("")
  })
}

/** The share of a word falls with its rank. */
export const anyWord = (words: readonly string[], random: () => number): string =>
  words[Math.floor(words.length * random() ** 4)]!

export function fillHistory(store: Store, messages: number, say: (text: string) => void): void {
  const { db } = store
  db.run("PRAGMA synchronous = OFF")
  const table = createIndexTable(db)
  const words = vocabulary()
  const random = randomNumbers(2)
  addChats(store)
  const insert = db.query(
    `INSERT INTO messages (id, chat_id, turn_id, role, blocks, master, created_at)
     VALUES (?, ?, NULL, ?, ?, 1, ?)`,
  )
  for (let from = 0; from < messages; from += BATCH) {
    const to = Math.min(messages, from + BATCH)
    store.write(() => {
      for (let n = from; n < to; n++) {
        const length = 10 + Math.floor(random() * 50)
        const text = Array.from({ length }, () => anyWord(words, random)).join(" ")
        const role = n % 2 === 0 ? "user" : "assistant"
        const blocks = JSON.stringify([{ type: "text", text }])
        insert.run(uuid(n), uuid(Math.floor(random() * CHATS)), role, blocks, at(n))
      }
      for (const row of table.waiting(BATCH)) {
        const { speech } = saidIn(JSON.parse(row.blocks))
        table.add(row, { speech: indexedText(fold(speech)), service: "" })
      }
    })
    store.write(() => table.merge(MERGE_PAGES))
    if (to % 100_000 === 0) say(`${to.toLocaleString("en")} messages written`)
  }
  while (store.write(() => table.merge(MERGE_PAGES)));
  db.run("PRAGMA synchronous = FULL")
  db.run("PRAGMA wal_checkpoint(TRUNCATE)")
}

function addChats({ db, write }: Store): void {
  const insert = db.query(
    "INSERT INTO chats (id, title, title_key, created_at, updated_at) VALUES (?, '', '', 0, 0)",
  )
  write(() => {
    for (let n = 0; n < CHATS; n++) insert.run(uuid(n))
  })
}

/** Ordered like the kernel's own: a UUIDv7 of a moment in 2024 and after. */
const uuid = (n: number): string => {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0")
  return `${hex(26_200_000 + Math.floor(n / 65_536), 8)}-${hex(n % 65_536, 4)}-7000-8000-${hex(n, 12)}`
}

const at = (n: number): number => 1_717_000_000_000 + n * 1000
