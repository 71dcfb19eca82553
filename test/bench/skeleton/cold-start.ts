/** From exec to the first 200 on /health: with an empty database, beside a bare server, with a large file. */
import { statSync } from "node:fs"
import { join } from "node:path"
import type { Bench, Context } from "../bench.ts"
import { startChild } from "../child.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { openLine } from "../line.ts"
import type { Row } from "../report.ts"
import { median, quantile } from "../statistics.ts"
import { fillDatabase } from "./fill-database.ts"

const GOAL = { max: 60 }
const GIB = 1024 ** 3

export const coldStart: Bench = {
  name: "cold-start",
  run: async (context) => {
    const samples = context.quick ? 7 : 25
    using folder = tempFolder()
    const hello = await buildHello(folder.path)
    const bare: number[] = []
    const empty: number[] = []
    // In turn, so that what else the machine does meets both alike. The first of each only warms the caches.
    for (let round = 0; round <= samples; round++) {
      using fresh = tempFolder()
      const bareMs = await timeToHealth(() => startChild([hello]))
      const emptyMs = await timeToHealth(() => startKernel(fresh))
      if (round === 0) continue
      bare.push(bareMs)
      empty.push(emptyMs)
    }
    return [
      {
        figure: "cold start, empty database",
        measured: median(empty),
        ...{ unit: "ms", goal: GOAL, floor: 8, peers: "812 / 1,592 / 6,091 ms" },
        note: `p95 ${quantile(empty, 0.95).toFixed(0)} ms`,
      },
      {
        figure: "the same as a multiple of a bare compiled Elysia",
        measured: median(empty) / median(bare),
        ...{ unit: "×", goal: { max: 3 } },
        note: `bare: ${median(bare).toFixed(1)} ms`,
      },
      await withLargeFile(context, samples),
    ]
  },
}

async function withLargeFile(context: Context, samples: number): Promise<Row> {
  const row = { figure: "cold start, database of 1 GiB", unit: "ms", goal: GOAL, floor: 8 }
  if (context.quick) return { ...row, measured: undefined, note: "left out by --quick" }
  using folder = tempFolder()
  await timeToHealth(() => startKernel(folder))
  context.say("writing a database of 1 GiB")
  const messages = fillDatabase(folder.database, GIB)
  const gibibytes = (statSync(folder.database).size / GIB).toFixed(2)
  const times: number[] = []
  for (let round = 0; round < samples; round++)
    times.push(await timeToHealth(() => startKernel(folder)))
  const note = `${gibibytes} GiB, ${messages.toLocaleString("en")} messages`
  return { ...row, measured: median(times), note }
}

/** Milliseconds from before the process is made until the answer is read. */
async function timeToHealth(start: () => ReturnType<typeof startChild>): Promise<number> {
  await using server = await start()
  const line = await openLine(server.url)
  await line.request("GET", "/health")
  const readyMs = performance.now()
  line.close()
  return readyMs - server.startedMs
}

/** Compiles the bare server as the kernel is compiled; gives the executable's path. */
async function buildHello(folder: string): Promise<string> {
  const outfile = join(folder, "hello")
  await Bun.build({
    entrypoints: [join(import.meta.dir, "hello.ts")],
    ...{ target: "bun", format: "esm", minify: true, bytecode: true },
    compile: { outfile },
  })
  return outfile
}
