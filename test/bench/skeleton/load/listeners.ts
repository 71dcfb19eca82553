/**
 * Load generator: chats whose upstream stamps its words, each followed by so many listeners, one of which may
 * stop reading. Prints how late the words were, as JSON.
 */
import { type Line, openLine } from "../../line.ts"
import { epochMs, quantile } from "../../statistics.ts"
import { newChat, takeTurn } from "../../talk.ts"

export interface ListenSettings {
  url: string
  chats: number
  /** Of each chat, beside the one who speaks. */
  listeners: number
  /** One more joins the first chat and stops reading. */
  stuck: boolean
}

export interface ListenResult {
  p50Ms: number
  p99Ms: number
  /** Words that the listener with the fewest, and with the most, got. */
  fewest: number
  most: number
  /** Whether the kernel cut the one who did not read; undefined without such a one. */
  dropped: boolean | undefined
}

const { url, chats, listeners, stuck }: ListenSettings = JSON.parse(process.argv[2]!)
const lateMs: number[] = []
const counts: number[] = []
/** Words from before this moment are a replay, or belong to the rush of joining. */
let countFromMs = Number.POSITIVE_INFINITY

/** Notes how late each stamp is. A stream may tell a text twice: only news counts. */
function createEar(): (piece: string) => void {
  const index = counts.push(0) - 1
  let newest = 0
  let carry = ""
  return (piece) => {
    const nowMs = epochMs()
    const text = carry + piece
    for (const [, digits] of text.matchAll(/@(\d+\.\d+);/g)) {
      const stamp = Number(digits)
      if (stamp <= newest) continue
      newest = stamp
      if (stamp < countFromMs) continue
      lateMs.push(nowMs - stamp)
      counts[index]!++
    }
    carry = text.slice(Math.max(0, text.length - 40))
  }
}

/** Joins without reading on; gives whether the kernel cut it, to be asked when all is said. */
async function joinStuck(chat: string): Promise<{ wasDropped(): Promise<boolean> }> {
  const line = await openLine(url)
  const joined = Promise.withResolvers<void>()
  let ended = false
  const answer = line
    .request("GET", `/v1/chats/${chat}/live`, {
      keep: false,
      onPiece: () => {
        if (!ended) line.pause()
        joined.resolve()
      },
    })
    .then(
      () => false,
      () => true,
    )
  await joined.promise
  return {
    wasDropped: async () => {
      ended = true
      line.resume()
      return await answer
    },
  }
}

const started: Promise<void>[] = []
const turns: Promise<unknown>[] = []
const ids: string[] = []
for (let index = 0; index < chats; index++) {
  const line = await openLine(url)
  const chat = await newChat(line)
  const first = Promise.withResolvers<void>()
  const ear = createEar()
  const onPiece = (piece: string): void => {
    ear(piece)
    first.resolve()
  }
  ids.push(chat)
  turns.push(takeTurn(line, chat, { onPiece }))
  started.push(first.promise)
}
await Promise.all(started)
const follow = (line: Line, chat: string) =>
  line.request("GET", `/v1/chats/${chat}/live`, { keep: false, onPiece: createEar() })
for (const chat of ids)
  for (let index = 0; index < listeners; index++) turns.push(follow(await openLine(url), chat))
const hung = stuck ? await joinStuck(ids[0]!) : undefined
await Bun.sleep(500)
countFromMs = epochMs()
await Promise.all(turns)
const result: ListenResult = {
  p50Ms: quantile(lateMs, 0.5),
  p99Ms: quantile(lateMs, 0.99),
  fewest: Math.min(...counts),
  most: Math.max(...counts),
  dropped: await hung?.wasDropped(),
}
process.stdout.write(JSON.stringify(result))
process.exit(0)
