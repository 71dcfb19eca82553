/** Load generator: many chats at once, each with turns one after another. Prints its result as JSON. */
import { openLine } from "../../line.ts"
import { quantile } from "../../statistics.ts"
import { newChat, takeTurn } from "../../talk.ts"

export interface CrowdSettings {
  url: string
  chats: number
  /** Of each chat. */
  turns: number
}

export interface CrowdResult {
  turns: number
  turnsPerSecond: number
  firstDeltaP99Ms: number
  errors: string[]
}

const { url, chats, turns }: CrowdSettings = JSON.parse(process.argv[2]!)
const speakers = await Promise.all(
  Array.from({ length: chats }, async () => {
    const line = await openLine(url)
    return { line, chat: await newChat(line) }
  }),
)
const waits: number[] = []
const errors: string[] = []
const startedMs = performance.now()
await Promise.all(
  speakers.map(async ({ line, chat }) => {
    for (let turn = 0; turn < turns; turn++) {
      try {
        const { sentMs, firstDeltaMs } = await takeTurn(line, chat)
        waits.push(firstDeltaMs - sentMs)
      } catch (error) {
        errors.push(String(error))
      }
    }
  }),
)
const seconds = (performance.now() - startedMs) / 1000
const result: CrowdResult = {
  turns: waits.length,
  turnsPerSecond: waits.length / seconds,
  firstDeltaP99Ms: quantile(waits, 0.99),
  errors,
}
process.stdout.write(JSON.stringify(result))
process.exit(0)
