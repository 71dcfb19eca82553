/** Cancels at any moment of turns that ask their client: every request ends once, every call has its result. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { parseJson } from "../../src/lib/json.ts"
import { handTool } from "../api/scripted-client.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

interface Seen {
  type: string
  op_id: string
  id: string
  kind: string
  name: string
  action: string
}

const OPS = [
  { op: { action: "read", path: "a" } },
  { op: { action: "write", path: "a", content: "x" } },
  { op: { action: "shell", command: "make", timeout_ms: 1000 } },
].map((input) => ({ name: "hand", input }))
const ASK = {
  name: "ask_questions",
  input: { questions: [{ question: "?", options: [{ label: "yes" }, { label: "no" }] }] },
}
const TEXT = plan([{ calls: [...OPS, ASK] }, { calls: [ASK, ...OPS] }, { say: "done" }])

test("sixty cancels at random moments leave nothing pending and no call without its one result", async () => {
  const kernel = await testKernel()
  kernel.api.registry.register(handTool({ traits: { waitsOnCancel: true } }))
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ cancelAt: fc.nat(60), answers: fc.array(fc.boolean(), { minLength: 8 }) }),
        (choice) => oneTurn(kernel, choice),
      ),
      { numRuns: 60, seed: 7 },
    )
  } finally {
    await kernel.dispose()
  }
})

/** One turn whose client answers as the choice says, cancelled once so many events were seen. */
async function oneTurn(
  kernel: TestKernel,
  { cancelAt, answers }: { cancelAt: number; answers: boolean[] },
): Promise<void> {
  const { turns, bus, messages } = kernel.api
  const chat = kernel.newChat()
  const asked: string[] = []
  const settled: string[] = []
  const over = Promise.withResolvers<void>()
  let count = 0
  let requests = 0
  const isAnswered = () => answers[requests++ % answers.length]
  const cancelSoon = (): void => {
    setImmediate(() => void turns.cancelChat(chat))
  }
  const post = (id: string): void => {
    if (turns.opWaits(chat, id)) turns.opResult(chat, { id, output: "" })
  }
  /** A read that is left alone is cancelled; what changes something is always carried through. */
  const meetOp = ({ op_id: id, action }: Seen): void => {
    asked.push(id)
    if (isAnswered()) queueMicrotask(() => post(id))
    else if (action === "read") cancelSoon()
    else setImmediate(post, id)
  }
  const meetQuestion = ({ id: call_id }: Seen): void => {
    if (!isAnswered()) cancelSoon()
    else void turns.questionAnswer(chat, { question: 0, answer: "yes", call_id }).catch(() => {})
  }
  const { unsubscribe } = bus.subscribe({ chats: [chat] }, (emission) => {
    const event = parseJson(emission.json) as Seen
    if (event.type === "client_op") meetOp(event)
    if (event.type === "tool_call" && event.name === "ask_questions") meetQuestion(event)
    if (event.type === "request_resolved" && event.kind === "op") settled.push(event.id)
    if (event.type === "done" || event.type === "error") over.resolve()
    if (++count === cancelAt) void turns.cancelChat(chat)
  })
  await turns.send(chat, { text: TEXT, trusted: true, client_ops: true })
  await over.promise
  unsubscribe()
  expect(settled.sort()).toEqual(asked.sort())
  const blocks = messages.page(chat, { limit: 500 }).flatMap((message) => message.blocks)
  const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []))
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [block.id] : []))
  expect(results.sort()).toEqual(calls.sort())
}
