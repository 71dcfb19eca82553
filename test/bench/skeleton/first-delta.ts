/** What the kernel adds between the upstream and the client's first text, everything stored on the way. */
import type { Bench } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { type Line, openLine } from "../line.ts"
import type { Row } from "../report.ts"
import { quantile } from "../statistics.ts"
import { newChat, takeTurn } from "../talk.ts"
import { startUpstream, type Upstream } from "../upstream.ts"

/** Turns before measuring: code that runs often has been compiled by then. */
const WARM_TURNS = 100
const OLD_CHATS = 20
const OLD_TURNS = 30

export const firstDelta: Bench = {
  name: "first-delta",
  run: async ({ quick }) => {
    await using upstream = await startUpstream()
    using folder = tempFolder()
    await using kernel = await startKernel(folder, upstream.url)
    const line = await openLine(kernel.url)
    const chats = async (count: number): Promise<string[]> => {
      const ids: string[] = []
      while (ids.length < count) ids.push(await newChat(line))
      return ids
    }
    await addedMs(line, upstream, await chats(WARM_TURNS))

    const fresh = await addedMs(line, upstream, await chats(quick ? 100 : 400))

    const old = await chats(OLD_CHATS)
    for (let turn = 0; turn < OLD_TURNS; turn++) for (const chat of old) await takeTurn(line, chat)
    await upstream.takeLog()
    const rounds = Array.from({ length: quick ? 5 : 15 }, () => old).flat()
    const ongoing = await addedMs(line, upstream, rounds)
    line.close()
    return [
      ...rows("a new chat", fresh, {
        p50: 4,
        p99: 12,
        floor: [2.2, 2.9],
        peers: "65 / 143 / 229 ms",
      }),
      ...rows("a chat of 30 turns", ongoing, {
        p50: 4,
        p99: 10,
        floor: [2.4, 3.9],
        peers: "4.2 / 84 / 182 ms",
      }),
    ]
  },
}

/** One turn in each chat, one after another; the time to the first text less what the upstream took. */
async function addedMs(
  line: Line,
  upstream: Upstream,
  chats: readonly string[],
): Promise<number[]> {
  await upstream.takeLog()
  const seen: number[] = []
  for (const chat of chats) {
    const { sentMs, firstDeltaMs } = await takeTurn(line, chat)
    seen.push(firstDeltaMs - sentMs)
  }
  const log = await upstream.takeLog()
  if (log.length !== seen.length)
    throw new Error(`the upstream got ${log.length} requests for ${seen.length} turns`)
  return seen.map((ms, index) => ms - (log[index]!.tFirst - log[index]!.t))
}

function rows(
  where: string,
  samples: readonly number[],
  known: { p50: number; p99: number; floor: [number, number]; peers: string },
): Row[] {
  const row = (share: number, max: number, floor: number): Row => ({
    figure: `added time to first text delta, ${where}, p${share * 100}`,
    measured: quantile(samples, share),
    ...{ unit: "ms", goal: { max }, floor },
  })
  return [
    { ...row(0.5, known.p50, known.floor[0]), peers: known.peers, note: `${samples.length} turns` },
    row(0.99, known.p99, known.floor[1]),
  ]
}
