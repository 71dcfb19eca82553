/** A kernel of its own for one corpus, spoken to as any importer does. */
import { Database } from "bun:sqlite"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { startChild } from "../child.ts"
import { BINARY, tempFolder } from "../kernel-process.ts"

export interface Found {
  id: number
  content: string
  score: number
}

export interface NewRecord {
  content: string
  source?: string
  created_at?: string
}

export interface MemoryKernel extends AsyncDisposable {
  pid: number
  database: string
  /** Stores all as they are and gives their ids in the same order. */
  load(records: readonly NewRecord[]): Promise<number[]>
  search(question: string, limit: number): Promise<Found[]>
  /** Settles when so many records have a vector. */
  embedded(count: number): Promise<void>
  get(path: string): Promise<Response>
}

export interface MemoryKernelOptions {
  /** A server of `/v1/embeddings`, with the model to ask it for. */
  embeddings?: { url: string; model: string } | undefined
  /** Prepares the database file before the kernel opens it. */
  database?: string
}

export async function startMemoryKernel(options: MemoryKernelOptions = {}): Promise<MemoryKernel> {
  const folder = tempFolder()
  const config = join(folder.path, "config.yaml")
  const { embeddings, database = folder.database } = options
  writeFileSync(
    config,
    `server: { listen: "127.0.0.1:0" }
db: { path: ${JSON.stringify(database)} }
log: { level: error }
${embeddings ? `memory: { embedding_model: ${embeddings.model} }` : ""}
llm:
  provider: openai
  base_url: ${embeddings?.url ?? "http://127.0.0.1:9"}/v1
  api_key: unused
  model: { general: none }
  models: [{ name: none }]
`,
  )
  const child = await startChild([BINARY, "serve", "--config", config])
  const get = (path: string) => fetch(child.url + path)
  const post = async (record: NewRecord): Promise<number> => {
    const response = await fetch(`${child.url}/v1/memories`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...record, dedup: false }),
    })
    if (!response.ok) throw new Error(`storing failed: ${await response.text()}`)
    return ((await response.json()) as { id: number }).id
  }
  return {
    ...{ pid: child.pid, database, get },
    load: async (records) => {
      const ids: number[] = []
      // One after another: the order of a conversation is that of its ids.
      for (const record of records) ids.push(await post(record))
      return ids
    },
    embedded: async (count) => {
      while (countVectors(database) < count) await Bun.sleep(100)
    },
    search: async (question, limit) => {
      const query = new URLSearchParams({ q: question, limit: String(limit), reinforce: "false" })
      const response = await get(`/v1/memories/search?${query}`)
      if (!response.ok) throw new Error(`the search failed: ${await response.text()}`)
      return ((await response.json()) as { memories: Found[] }).memories
    },
    [Symbol.asyncDispose]: async () => {
      await child[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

function countVectors(path: string): number {
  const db = new Database(path, { readonly: true })
  try {
    const row = db.query<{ n: number }, []>("SELECT count(*) AS n FROM memory_vectors").get()
    return row?.n ?? 0
  } finally {
    db.close()
  }
}
