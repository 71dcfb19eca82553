/**
 * From a message to the request that leaves for the model, in a chat of 10,000 messages: history read, folded part
 * told, calls shown in short, system part, tools and state put together. The write of the message itself is in it.
 */

import type { NewMessage } from "../../../src/chats/message-row.ts"
import type { Tree } from "../../../src/config/merge.ts"
import type { Block } from "../../../src/schema/message.ts"
import { testKernel } from "../../support/kernel.ts"
import type { Bench } from "../bench.ts"
import type { Row } from "../report.ts"
import { median } from "../statistics.ts"

const MESSAGES = 10_000
const WINDOW = 200_000
const TURNS = 25

export const assembly: Bench = {
  name: "assembly",
  run: async ({ say }) => {
    say(`assembly: ${MESSAGES} messages, folded as usual`)
    const folded = await measure({})
    say(`assembly: ${MESSAGES} messages, none of them folded`)
    const whole = await measure({ compact_after_tokens: 10_000_000 })
    return [
      row("request of a chat with 10,000 messages", folded, { goal: { max: 10 } }),
      row("the same with nothing folded", whole, {}),
    ]
  },
}

const row = (figure: string, { ms, bytes, messages }: Measured, more: Pick<Row, "goal">): Row => ({
  ...{ figure, measured: ms, unit: "ms", ...more },
  note: `${messages} messages, ${Math.round(bytes / 1024)} KB in the request`,
})

interface Measured {
  ms: number
  bytes: number
  messages: number
}

async function measure(context: Tree): Promise<Measured> {
  let arrived = 0
  const kernel = await testKernel({
    config: {
      context,
      llm: {
        models: [
          { name: "mock", context_window: context.compact_after_tokens ? 2_000_000 : WINDOW },
        ],
      },
    },
    mock: {
      observe: ({ tools }) => {
        if (tools.length > 0) arrived ||= performance.now()
      },
      answer: ({ tools }) => ({ say: tools.length === 0 ? "## Task\nGo on." : "Yes." }),
    },
  })
  try {
    const chat = kernel.newChat()
    for (let turn = 0; turn < MESSAGES / 4; turn++) kernel.api.messages.append(turnOf(chat, turn))
    await kernel.turn(chat, "first")
    const times: number[] = []
    for (let turn = 0; turn < TURNS; turn++) {
      arrived = 0
      const start = performance.now()
      await kernel.turn(chat, `message ${turn}`)
      times.push(arrived - start)
    }
    const { messages } = kernel.requests.findLast(({ tools }) => tools.length > 0)!
    return {
      ms: median(times),
      bytes: Buffer.byteLength(JSON.stringify(messages)),
      messages: messages.length,
    }
  } finally {
    await kernel.dispose()
  }
}

/** Words, a call, its result, words: some eighty tokens in two scripts. */
function turnOf(chat_id: string, turn: number): NewMessage[] {
  const turn_id = `01a00000-0000-7000-8000-${String(turn).padStart(12, "0")}`
  const words = "слово и word again ".repeat(3)
  const message = (role: "user" | "assistant", block: Block): NewMessage => ({
    ...{ chat_id, turn_id, role, master: true, blocks: [block] },
  })
  const id = `call_${turn}`
  return [
    message("user", { type: "text", text: words }),
    message("assistant", {
      ...{ type: "tool_use", id, name: "read_file", input: { path: `/src/${turn}.ts` } },
    }),
    message("user", { type: "tool_result", id, output: words.repeat(2), is_error: false }),
    message("assistant", { type: "text", text: words }),
  ]
}
