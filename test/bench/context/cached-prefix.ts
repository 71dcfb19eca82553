/**
 * How much of a request a provider can take from its cache: over thirty turns with tools, the share of each request
 * (without the volatile end) with which the next one begins, to the byte, on both wires.
 */
import { Type } from "@sinclair/typebox"
import { bytesOf, type Piece, piecesOf } from "../../support/cached-pieces.ts"
import { hasFakeLlm, startFakeLlm } from "../../support/fake-llm.ts"
import { testKernel } from "../../support/kernel.ts"
import type { Bench } from "../bench.ts"
import type { Row } from "../report.ts"
import { quantile } from "../statistics.ts"

const TURNS = { full: 30, quick: 8 }
const MODEL = "fake-tools-2-c3"

export const cachedPrefix: Bench = {
  name: "cached-prefix",
  run: async ({ quick, say }) => {
    const turns = TURNS[quick ? "quick" : "full"]
    const rows: Row[] = []
    for (const provider of ["anthropic", "openai"]) {
      say(`cached-prefix: ${turns} turns over ${provider}`)
      rows.push(...(await measure(provider, turns)))
    }
    return rows
  },
}

async function measure(provider: string, turns: number): Promise<Row[]> {
  const figure = `${provider}: share of a request that begins the next, median`
  if (!hasFakeLlm()) {
    return [{ figure, measured: undefined, unit: "%", note: "the fake model server is absent" }]
  }
  const requests = await requestsOf(provider, turns)
  const shares = requests.slice(1).map((request, index) => sharedBy(requests[index]!, request))
  const whole = shares.filter((share) => share === 1).length
  return [
    {
      ...{ figure, measured: 100 * quantile(shares, 0.5), unit: "%", goal: { min: 99.5 } },
      note: `${requests.length} requests, ${whole} of ${shares.length} begin with all of the one before`,
    },
    {
      figure: `${provider}: the smallest share`,
      ...{ measured: 100 * Math.min(...shares), unit: "%" },
      note: "where results leave the fresh window between two turns",
    },
  ]
}

async function requestsOf(provider: string, turns: number): Promise<Piece[][]> {
  const upstream = await startFakeLlm()
  await upstream.configure({ tool: "page", toolArgs: '{"path":"{{n}}.txt"}' })
  const kernel = await testKernel({
    config: {
      llm: {
        ...{ provider, api_key: "k", prompt_cache: "5m" },
        base_url: provider === "openai" ? "http://openrouter.ai/v1" : upstream.url,
        ...(provider === "openai" && { proxy: upstream.url }),
        ...{ model: { general: MODEL }, models: [{ name: MODEL }] },
      },
    },
  })
  try {
    let page = 0
    kernel.api.registry.register({
      ...{ name: "page", group: "test", description: "A page of text.", gates: [], traits: {} },
      input: Type.Object({ path: Type.String() }),
      run: async () => ({ output: `страница 漢字 ${++page} ${"x".repeat(1500)}` }),
    })
    const chat = kernel.newChat()
    for (let turn = 0; turn < turns; turn++) {
      await kernel.turn(chat, `вопрос ${turn} ${"y".repeat(200)}`)
    }
    return (await upstream.bodies()).map(piecesOf)
  } finally {
    await kernel.dispose()
    await upstream.stop()
  }
}

/** Without the last piece, which holds the state and is new each time. */
function sharedBy(before: readonly Piece[], after: readonly Piece[]): number {
  const head = bytesOf(before.slice(0, -1))
  const next = bytesOf(after)
  let same = 0
  while (same < head.length && head[same] === next[same]) same++
  return same / head.length
}
