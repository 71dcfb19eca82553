/**
 * What recall reads. The audience is a part of every statement that can bring a text nearer to a prompt: no
 * later step has to remember it.
 */
import type { Database } from "bun:sqlite"
import type { MemoryKind } from "../../schema/memory.ts"
import { fromBlob } from "../signs.ts"

/** The weight of the first letters of a word against the whole stem. */
const ROOT_WEIGHT = 0.35

/** What ranking needs to know of each memory; no text. */
export interface Card {
  id: number
  kind: MemoryKind
  importance: number
  private: number
  source: string | null
  /** Stems of the name of whoever says it. */
  speaker: string | null
  hits: number
  created_at: number
  accessed_at: number
}

export type RecallReads = ReturnType<typeof createRecallReads>

const CARD = "id, kind, importance, private, source, speaker, hits, created_at, accessed_at"

export function createRecallReads(db: Database) {
  const cards = () => db.query<Card, []>(`SELECT ${CARD} FROM memories ORDER BY id`).all()

  const card = (id: number) =>
    db.query<Card, [number]>(`SELECT ${CARD} FROM memories WHERE id = ?`).get(id) ?? undefined

  /** BM25 of those that hold any of the words, best first; larger is better. */
  const lexical = (words: LexicalQuery) =>
    db
      .query<{ id: number; score: number }, [string, number, number, number]>(
        `SELECT m.id, -bm25(memory_index, 1.0, ${ROOT_WEIGHT}) AS score
         FROM memory_index JOIN memories m ON m.id = memory_index.rowid
         WHERE memory_index MATCH ? AND m.private <= ? AND (? OR m.kind <> 'core')
         ORDER BY score DESC, m.id LIMIT ?`,
      )
      .all(matchAny(words), words.seesPrivate ? 1 : 0, words.withCore ? 1 : 0, words.limit)

  /** In how many records the word of this root stands. */
  const rootCount = (root: string) =>
    db
      .query<{ doc: number }, [string]>(
        "SELECT doc FROM memory_terms WHERE term = ? AND col = 'roots'",
      )
      .get(root)?.doc ?? 0

  const rootsOf = (id: number) =>
    db.query<{ roots: string }, [number]>("SELECT roots FROM memory_index WHERE rowid = ?").get(id)
      ?.roots ?? ""

  const stemsOf = (id: number) =>
    db.query<{ stems: string }, [number]>("SELECT stems FROM memory_index WHERE rowid = ?").get(id)
      ?.stems ?? ""

  const signs = (model: string) =>
    db
      .query<{ memory_id: number; signs: Uint8Array }, [string]>(
        "SELECT memory_id, signs FROM memory_vectors WHERE model = ?",
      )
      .iterate(model)

  const signsOf = (id: number, model: string) =>
    db
      .query<{ signs: Uint8Array }, [number, string]>(
        "SELECT signs FROM memory_vectors WHERE memory_id = ? AND model = ?",
      )
      .get(id, model)?.signs

  const vector = (id: number, model: string): Float32Array | undefined => {
    const row = db
      .query<{ vector: Uint8Array }, [number, string]>(
        "SELECT vector FROM memory_vectors WHERE memory_id = ? AND model = ?",
      )
      .get(id, model)
    return row ? new Float32Array(fromBlob(row.vector)) : undefined
  }

  return { cards, card, lexical, rootCount, rootsOf, stemsOf, signs, signsOf, vector }
}

export interface LexicalQuery {
  stems: readonly string[]
  roots: readonly string[]
  seesPrivate: boolean
  withCore: boolean
  limit: number
}

/** Words are letters and digits only, so quoting them is enough. */
const matchAny = ({ stems, roots }: LexicalQuery): string =>
  [...stems.map((word) => `stems : "${word}"`), ...roots.map((word) => `roots : "${word}"`)].join(
    " OR ",
  )
