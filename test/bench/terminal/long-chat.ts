/**
 * A chat of 2,000 messages in a running client: opening it, then, with all of it loaded, keys that are typed
 * while 200 deltas a second arrive, and what the client holds in memory by then.
 */
import type { Emulated } from "../../support/emulated-terminal.ts"
import type { Bench, Context } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { processFigures } from "../process-figures.ts"
import type { Row } from "../report.ts"
import { median, quantile } from "../statistics.ts"
import { startUpstream } from "../upstream.ts"
import { seesFirstPaint, startClient } from "./client.ts"
import { countDeltas, type DeltaCount } from "./count-deltas.ts"
import { fillChat } from "./fill-chat.ts"

const MESSAGES = 2_000
const TITLE = "Long one"
/** A delta each 5 ms, for longer than the keys take. */
const MODEL = "fake-c20000-d5"
/** No multiple of a frame, so that keys fall into all its moments. */
const KEY_PAUSE_MS = 37
/** So many letters are typed before they are taken back one by one. */
const LINE_LETTERS = 40
const LETTER = "x"
const KEY = { enter: "\r", escape: "\x1b", backspace: "\x7f", ctrlEnd: "\x1b[1;5F" }
const [CTRL_N, CTRL_P, CTRL_HOME] = ["\x0e", "\x10", "\x1b[1;5H"]

export const longChat: Bench = {
  name: "long-chat",
  run: async (context) => {
    using folder = tempFolder()
    {
      await using _first = await startKernel(folder)
    }
    fillChat(folder.database, TITLE, MESSAGES)
    await using upstream = await startUpstream()
    await using kernel = await startKernel(folder, upstream.url, { model: MODEL })
    await using client = startClient(folder.path, kernel.url)
    const { terminal } = client
    await seesFirstPaint(terminal)
    const opened = await openings(terminal, context)
    // Older messages are read as one scrolls: the first one is there when all are.
    terminal.types(CTRL_HOME)
    await terminal.sees(/for number 0\./)
    terminal.types(KEY.ctrlEnd)
    await terminal.sees(`number ${MESSAGES - 1}.`)
    await using deltas = await countDeltas(kernel.url)
    const typed = await keysWhileAnswering(terminal, deltas, context)
    return [openingRow(opened), ...typed]
  },
}

const openingRow = (opened: readonly number[]): Row => ({
  figure: "opening a chat of 2,000 messages",
  measured: median(opened),
  ...{ unit: "ms", goal: { max: 200 } },
  note: `from Enter in the list; highest of ${opened.length}: ${Math.max(...opened).toFixed(0)} ms`,
})

/** Times from Enter in the list of chats until the newest message stands on the screen; ends in that chat. */
async function openings(terminal: Emulated, { quick, say }: Context): Promise<number[]> {
  say("opening")
  const times: number[] = []
  for (let round = 0; round < (quick ? 5 : 15); round++) {
    terminal.types(CTRL_N)
    await terminal.sees("Type a message.")
    terminal.types(CTRL_P)
    await terminal.sees(`› ${TITLE}`)
    const startedMs = performance.now()
    terminal.types(KEY.enter)
    await terminal.sees(`number ${MESSAGES - 1}.`)
    times.push(performance.now() - startedMs)
  }
  return times
}

async function keysWhileAnswering(
  terminal: Emulated,
  deltas: DeltaCount,
  { quick, say }: Context,
): Promise<Row[]> {
  terminal.types(`go${KEY.enter}`)
  await terminal.sees("word word")
  say("typing")
  const before = { count: deltas.count(), atMs: performance.now() }
  const times: number[] = []
  for (let press = 0; press < (quick ? 100 : 400); press++) {
    const within = press % (2 * LINE_LETTERS)
    const isTyped = within < LINE_LETTERS
    const letters = isTyped ? within + 1 : 2 * LINE_LETTERS - within - 1
    const startedMs = performance.now()
    terminal.types(isTyped ? LETTER : KEY.backspace)
    await terminal.sees(inputOf(letters))
    times.push(performance.now() - startedMs)
    await Bun.sleep(KEY_PAUSE_MS)
  }
  const seconds = (performance.now() - before.atMs) / 1000
  const rate = (deltas.count() - before.count) / seconds
  const isAnswering = terminal.screen().includes("Esc stops")
  if (!isAnswering) throw new Error("the answer ended before the keys did")
  const { residentMiB, peakMiB, privateMiB } = processFigures(terminal.pid)
  return [
    {
      figure: "keystroke to screen, p95, while answering",
      measured: quantile(times, 0.95),
      ...{ unit: "ms", goal: { max: 16 } },
      note: `median ${median(times).toFixed(1)} ms, highest ${Math.max(...times).toFixed(0)} ms of ${times.length} keys at ${rate.toFixed(0)} deltas/s; the emulator's part included`,
    },
    {
      figure: "memory of the client by then",
      measured: residentMiB,
      ...{ unit: "MiB", goal: { max: 150 } },
      note: `private ${privateMiB.toFixed(0)} MiB, highest resident ${peakMiB.toFixed(0)} MiB`,
    },
  ]
}

/** The input between its two lines holds exactly so many letters. */
const inputOf = (letters: number): RegExp =>
  new RegExp(`\\n─{10,}\\n${letters === 0 ? "" : ` ${LETTER.repeat(letters)}`}\\n─{10,}\\n`)
