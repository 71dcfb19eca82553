/** One answer that arrives as fast as the upstream can send it. */
import type { Bench } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { type Line, openLine } from "../line.ts"
import { median } from "../statistics.ts"
import { charsOf, newChat, takeTurn } from "../talk.ts"
import { startUpstream } from "../upstream.ts"

const DELTAS = 200_000
const MODEL = `fake-c${DELTAS}`
/** An answer of a million characters would be folded at its end, by a model that answers as long: two bursts more. */
const UNFOLDED_TOKENS = 10_000_000
/** What the fake upstream says in each delta. */
const WORD = "word "

export const relay: Bench = {
  name: "relay",
  run: async ({ quick }) => {
    await using upstream = await startUpstream()
    using folder = tempFolder()
    await using kernel = await startKernel(folder, upstream.url, {
      model: MODEL,
      compactAfter: UNFOLDED_TOKENS,
    })
    const line = await openLine(kernel.url)
    const relayed: number[] = []
    const alone: number[] = []
    for (let round = 0; round <= (quick ? 3 : 9); round++) {
      const [through, bare] = [await relayRate(line), await upstreamRate(upstream.url)]
      if (round === 0) continue
      relayed.push(through)
      alone.push(bare)
    }
    line.close()
    return [
      {
        figure: "relay of one upstream burst, coalesced",
        measured: median(relayed),
        ...{ unit: "deltas/s", goal: { min: 500_000 }, floor: 1_080_000 },
        note: `the upstream alone: ${Math.round(median(alone)).toLocaleString("en")} deltas/s`,
      },
    ]
  },
}

/** From the request to the end of the answer. Throws unless every character came through. */
async function relayRate(line: Line): Promise<number> {
  const chat = await newChat(line)
  const { sentMs, endedMs, stream } = await takeTurn(line, chat, { model: MODEL, keep: true })
  const chars = charsOf(stream)
  if (chars !== DELTAS * WORD.length)
    throw new Error(`${chars} of ${DELTAS * WORD.length} characters came through`)
  return (DELTAS / (endedMs - sentMs)) * 1000
}

/** The upstream without a kernel between: no relay can be faster. */
async function upstreamRate(url: string): Promise<number> {
  const line = await openLine(url)
  const body = { model: MODEL, stream: true, messages: [{ role: "user", content: "Go." }] }
  const sentMs = performance.now()
  await line.request("POST", "/v1/chat/completions", { body, keep: false })
  const endedMs = performance.now()
  line.close()
  return (DELTAS / (endedMs - sentMs)) * 1000
}
