/** How long recall takes over many memories, and how long others wait meanwhile. */
import { rmSync } from "node:fs"
import type { Bench, Context } from "../bench.ts"
import { tempFolder } from "../kernel-process.ts"
import type { Row } from "../report.ts"
import { quantile } from "../statistics.ts"
import { fillMemories } from "./fill-memories.ts"
import { questionOf, randomVector } from "./made-up.ts"
import { startMemoryKernel } from "./memory-kernel.ts"

const MODEL = "made-up"
const QUESTIONS = 200
const WARM = 20
const PING_EVERY_MS = 4

export const latency: Bench = {
  name: "recall",
  run: async (context) => [
    ...(await over(context, 10_000, { max: 7 })),
    ...(context.quick ? [] : await over(context, 100_000, { max: 45 })),
  ],
}

async function over(context: Context, count: number, goal: { max: number }): Promise<Row[]> {
  const of = `${count.toLocaleString("en")} memories`
  context.say(`filling ${of}`)
  using folder = tempFolder()
  await using server = startVectors()
  const options = { database: folder.database, embeddings: { url: server.url, model: MODEL } }
  // The first start makes the file.
  await (await startMemoryKernel({ database: folder.database }))[Symbol.asyncDispose]()
  fillMemories(folder.database, count, MODEL)

  await using kernel = await startMemoryKernel(options)
  const recall = (i: number) =>
    kernel.get(`/v1/memories/prompt?q=${encodeURIComponent(questionOf(i))}`)
  const first = await timed(() => recall(0))
  for (let i = 1; i < WARM; i++) await recall(i)
  const pings = startPings(() => kernel.get("/health"))
  const times: number[] = []
  for (let i = WARM; i < WARM + QUESTIONS; i++) {
    context.quick && i > WARM + 50 ? 0 : times.push(await timed(() => recall(i)))
  }
  const waits = await pings.stop()
  rmSync(folder.database, { force: true })
  return [
    {
      ...{ figure: `recall for a prompt over ${of}, p50`, measured: quantile(times, 0.5) },
      ...{
        unit: "ms",
        goal,
        note: `${times.length} questions; the first took ${first.toFixed(0)} ms`,
      },
    },
    { figure: `the same, p99`, measured: quantile(times, 0.99), unit: "ms" },
    {
      ...{ figure: `meanwhile GET /health, p99`, measured: quantile(waits, 0.99), unit: "ms" },
      ...{
        goal: { max: 20 },
        note: `worst ${Math.max(...waits).toFixed(0)} ms of ${waits.length}`,
      },
    },
  ]
}

const timed = async (work: () => Promise<Response>): Promise<number> => {
  const startedMs = performance.now()
  const response = await work()
  await response.text()
  if (!response.ok) throw new Error(`recall answered ${response.status}`)
  return performance.now() - startedMs
}

/** Asks again and again, one after another, and keeps how long each answer took. */
function startPings(ping: () => Promise<Response>): { stop(): Promise<number[]> } {
  const waits: number[] = []
  let going = true
  const run = async (): Promise<void> => {
    while (going) {
      waits.push(await timed(ping))
      await Bun.sleep(PING_EVERY_MS)
    }
  }
  const done = run()
  return {
    stop: async () => {
      going = false
      await done
      return waits
    },
  }
}

/** A server of vectors that cost nothing: a number in the text says which. */
function startVectors(): AsyncDisposable & { url: string } {
  let asked = 0
  const server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: async (request) => {
      const { input } = (await request.json()) as { input: string | string[] }
      const data = [input].flat().map((_, index) => ({
        ...{ object: "embedding", index, embedding: [...randomVector(asked++)] },
      }))
      return Response.json({
        object: "list",
        model: MODEL,
        data,
        usage: { prompt_tokens: 0, total_tokens: 0 },
      })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
