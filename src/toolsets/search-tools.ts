/** Finds tools by what they should do: their names, purposes, families and parameters as stems, without a model. */
import { queryStems, stems } from "../lib/stems.ts"
import type { RegistryEntry } from "../tools/registry.ts"

/** A tool that has fewer of the query's words is no answer to it. */
const MATCHED_MIN = 0.5
/** So many are enough to choose from. */
const FOUND_MAX = 5

/** BM25 as the full-text index of memories has it (SQLite FTS5: k1 = 1.2, b = 0.75). */
const K1 = 1.2
const B = 0.75
/** FTS5's floor: a word that stands in most documents still counts a little. */
const IDF_MIN = 1e-6

/** The best first; empty when nothing holds at least half of the query's words. */
export function searchTools(
  query: string,
  entries: readonly RegistryEntry[],
): readonly RegistryEntry[] {
  const wanted = queryStems(query)
  if (wanted.length === 0 || entries.length === 0) return []
  const documents = entries.map((entry) => ({ entry, words: documentOf(entry) }))
  const length = documents.reduce((sum, { words }) => sum + words.length, 0) / documents.length
  const idf = new Map(wanted.map((stem) => [stem, idfOf(stem, documents)]))
  return documents
    .map(({ entry, words }) => ({ entry, ...weigh(words, { wanted, idf, length }) }))
    .filter(({ matched }) => matched / wanted.length >= MATCHED_MIN)
    .sort((a, b) => b.score - a.score)
    .slice(0, FOUND_MAX)
    .map(({ entry }) => entry)
}

interface Weighing {
  wanted: readonly string[]
  idf: ReadonlyMap<string, number>
  /** Words of a document on average. */
  length: number
}

function weigh(words: readonly string[], { wanted, idf, length }: Weighing) {
  let [matched, score] = [0, 0]
  for (const stem of wanted) {
    const count = words.filter((word) => word === stem).length
    if (count === 0) continue
    matched++
    const saturation = count + K1 * (1 - B + (B * words.length) / length)
    score += (idf.get(stem)! * count * (K1 + 1)) / saturation
  }
  return { matched, score }
}

function idfOf(stem: string, documents: readonly { words: readonly string[] }[]): number {
  const holding = documents.filter(({ words }) => words.includes(stem)).length
  return Math.max(IDF_MIN, Math.log((documents.length - holding + 0.5) / (holding + 0.5)))
}

/** Every word by which a tool may be known. */
function documentOf({ tool, spec }: RegistryEntry): string[] {
  const texts = [tool.name.replaceAll(/[_-]/g, " "), tool.group, tool.description]
  collectParameters(spec.input_schema, texts)
  return stems(texts.join("\n"))
}

/** Names and descriptions of parameters, at any depth of the schema. */
function collectParameters(schema: unknown, texts: string[]): void {
  if (Array.isArray(schema)) {
    for (const each of schema) collectParameters(each, texts)
    return
  }
  if (typeof schema !== "object" || schema === null) return
  for (const [key, value] of Object.entries(schema)) {
    if (key === "description" && typeof value === "string") texts.push(value)
    else if (key === "properties" && typeof value === "object" && value !== null) {
      texts.push(...Object.keys(value).map((name) => name.replaceAll("_", " ")))
      collectParameters(Object.values(value), texts)
    } else collectParameters(value, texts)
  }
}
