/** What it costs to look for secrets in what tools print, and in what is made to be slow to read. */
import { createRedactor } from "../../../src/tools/redaction/redactor.ts"
import type { Bench } from "../bench.ts"

const CHARS = 4_000_000
const HOSTILE_CHARS = 400_000

const LOG = [...Array(60).keys()]
  .map(
    (at) =>
      `2026-12-01T04:${at}:12.345Z INFO http request method=GET path=/v1/chats/${at} status=200 duration_ms=${at * 7} ok`,
  )
  .join("\n")

/** Each makes one of the rules look as often as it can. */
const HOSTILE = [
  "password:",
  "token=",
  "sk-",
  "-u a:",
  "eyJ",
  "://a:b",
  "-----BEGIN PRIVATE KEY-----",
]

export const redaction: Bench = {
  name: "redaction",
  run: async ({ quick }) => {
    const redact = await createRedactor({
      builtin: true,
      rules: [],
      literals: ["a-literal-secret"],
    })
    const code = await Bun.file(
      new URL("../../../src/tools/redaction/assignment.ts", import.meta.url),
    ).text()
    const rounds = quick ? 3 : 10
    const rateOf = (piece: string, chars: number) => bestRate(redact, filled(piece, chars), rounds)
    const hostile = HOSTILE.map((piece) => ({ piece, rate: rateOf(piece, HOSTILE_CHARS) }))
    const slowest = hostile.reduce((a, b) => (b.rate < a.rate ? b : a))
    return [
      {
        figure: "secrets looked for in a log",
        measured: rateOf(`${LOG}\n`, CHARS),
        ...{ unit: "MB/s", goal: { min: 50 } },
      },
      {
        figure: "secrets looked for in code about secrets",
        measured: rateOf(code, CHARS),
        ...{ unit: "MB/s", goal: { min: 50 } },
      },
      {
        figure: "secrets looked for in the slowest of hostile texts",
        measured: slowest.rate,
        ...{ unit: "MB/s", goal: { min: 0.5 } },
        note: `${JSON.stringify(slowest.piece)} again and again`,
      },
    ]
  },
}

const filled = (piece: string, chars: number): string =>
  // Through bytes: a repeated text is no string in one piece yet.
  Buffer.from(piece.repeat(Math.ceil(chars / piece.length))).toString()

/** Millions of characters for each second of processor time, in the best round. */
function bestRate(redact: (text: string) => string, text: string, rounds: number): number {
  let best = 0
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage()
    redact(text)
    const { user, system } = process.cpuUsage(before)
    best = Math.max(best, text.length / (user + system))
  }
  return best
}
