import { afterEach, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { deferred } from "../../src/lib/async.ts"
import { createGate } from "../../src/llm/mock-gate.ts"
import type { Message } from "../../src/schema/message.ts"
import type { Tool } from "../../src/tools/tool.ts"
import {
  nextEvent,
  plan,
  recordedLog,
  type TestKernel,
  type TestKernelOptions,
  testKernel,
  texts,
  untilEnd,
} from "../support/kernel.ts"

const kernels: TestKernel[] = []
const start = async (options: TestKernelOptions = {}): Promise<TestKernel> => {
  const kernel = await testKernel(options)
  kernels.push(kernel)
  return kernel
}
afterEach(async () => {
  for (const kernel of kernels.splice(0)) await kernel.dispose()
})

/** A tool that waits until the test lets it go, and says when it began. */
function heldTool(name: string, traits: Tool["traits"] = {}) {
  const began = deferred()
  const release = deferred()
  const tool: Tool = {
    ...{ name, group: "test", description: name, gates: [], traits },
    input: Type.Object({}),
    run: async () => {
      began.resolve()
      await release.promise
      return { output: "real result" }
    },
  }
  return { tool, began: began.promise, release: release.resolve }
}

const rolesOf = (messages: readonly Message[]): string =>
  messages
    .map((message) => `${message.role[0]}:${message.blocks.map((block) => block.type).join("+")}`)
    .join(" ")

describe("cancelling", () => {
  test("TURN-015 CTX-75 LLM-039: a cancel between deltas keeps the partial text and ends the turn in order", async () => {
    const gate = createGate()
    const kernel = await start({ mock: { gate } })
    const chat = kernel.newChat()
    const { turnId } = await kernel.api.turns.send(chat, { text: "one two three" })
    const events = untilEnd(kernel, chat, turnId)
    const first = nextEvent(kernel, chat, "text_delta")
    ;(await gate.next()).release()
    await first
    expect(await kernel.api.turns.cancelChat(chat)).toBe(1)
    expect((await events).at(-1)).toEqual({ type: "done", reason: "cancelled" })
    const stored = kernel.api.messages.page(chat, {}).at(-1)!
    expect(stored.blocks).toEqual([{ type: "text", text: "one " }])
    gate.open()
    expect(texts(await kernel.turn(chat, "next"))).toBe("next")
  })

  test("TURN-015 FRG-009: calls that a cancel leaves unexecuted are closed with one text, and the chat goes on at once", async () => {
    const kernel = await start()
    const held = heldTool("wait")
    kernel.api.registry.register(held.tool)
    const chat = kernel.newChat()
    const text = plan([
      { say: "so far", calls: [{ name: "wait" }, { name: "wait" }, { name: "wait" }] },
      { say: "x" },
    ])
    const { turnId } = await kernel.api.turns.send(chat, { text })
    const events = untilEnd(kernel, chat, turnId)
    await held.began
    await kernel.api.turns.cancelChat(chat)
    const next = await kernel.turn(chat, "a correction")
    expect((await events).at(-1)).toEqual({ type: "done", reason: "cancelled" })
    expect(texts(next)).toBe("a correction")
    const results = kernel.api.messages
      .page(chat, {})
      .flatMap((message) => message.blocks)
      .filter((block) => block.type === "tool_result")
    expect(results.map((result) => result.output)).toEqual(
      Array(3).fill("[not executed: turn cancelled]"),
    )
    const sent = kernel.requests.at(-1)!.messages
    expect(sent.at(-1)!.blocks.map((block) => block.type)).toEqual([
      "tool_result",
      "tool_result",
      "tool_result",
      "text",
      "text",
    ])
  })

  test("TURN-013 TURN-012: an outside executor is awaited on cancel, and its result in time is stored as the real one", async () => {
    const kernel = await start()
    const held = heldTool("outside", { waitsOnCancel: true })
    kernel.api.registry.register(held.tool)
    const chat = kernel.newChat()
    const { turnId } = await kernel.api.turns.send(chat, {
      text: plan([{ call: "outside" }, { say: "x" }]),
    })
    const events = untilEnd(kernel, chat, turnId)
    await held.began
    const cancelled = kernel.api.turns.cancelChat(chat)
    held.release()
    await cancelled
    expect((await events).find((event) => event.type === "tool_result")).toMatchObject({
      output: "real result",
      is_error: false,
    })
    expect((await events).at(-1)).toEqual({ type: "done", reason: "cancelled" })
  })

  test("TURN-011 TOOL-34 CHAT-30: a cancel answers within its wait even if the turn does not wind down, and the next turn waits for it", async () => {
    const kernel = await start()
    const held = heldTool("stubborn", { waitsOnCancel: true })
    kernel.api.registry.register(held.tool)
    const chat = kernel.newChat()
    await kernel.api.turns.send(chat, { text: plan([{ call: "stubborn" }, { say: "x" }]) })
    await held.began
    await kernel.api.turns.cancelChat(chat)
    expect(kernel.api.turns.generations().map((turn) => turn.state)).toEqual(["cancelling"])
    const next = kernel.turn(chat, "patient")
    expect(kernel.requests).toHaveLength(1)
    held.release()
    expect(texts(await next)).toBe("patient")
    expect(JSON.stringify(kernel.requests.at(-1)!.messages)).toContain("real result")
  })

  test("SRV-012 SRV-013: each cancellation is logged, and one broken turn does not keep others from being cancelled", async () => {
    const { log, lines } = recordedLog()
    const kernel = await start({ log })
    const held = heldTool("wait")
    kernel.api.registry.register(held.tool)
    const chats = [kernel.newChat(), kernel.newChat()]
    for (const chat of chats)
      await kernel.api.turns.send(chat, { text: plan([{ call: "wait" }, { say: "x" }]) })
    await held.began
    const ended = chats.map((chat) => nextEvent(kernel, chat, "done"))
    await Promise.all(chats.map((chat) => kernel.api.turns.cancelChat(chat)))
    await Promise.all(ended)
    expect(lines.filter((line) => line.includes("turn cancelled"))).toHaveLength(2)
  })

  test("a queued turn that is cancelled never reaches the model and its message stays", async () => {
    const gate = createGate()
    const kernel = await start({ mock: { gate } })
    const chat = kernel.newChat()
    await kernel.api.turns.send(chat, { text: "first" })
    const second = await kernel.api.turns.send(chat, { text: "second" })
    const events = untilEnd(kernel, chat, second.turnId)
    await kernel.api.turns.cancel(second.turnId)
    gate.open()
    expect((await events).at(-1)).toEqual({ type: "done", reason: "cancelled" })
    expect(kernel.requests).toHaveLength(1)
    expect(rolesOf(kernel.api.messages.page(chat, {}))).toBe("u:text a:text u:text")
  })

  test("fifty times cancel and send at once: the order of history is unbroken", async () => {
    const kernel = await start()
    const chat = kernel.newChat()
    for (let round = 0; round < 50; round++) {
      const text = `round ${round} of many words to stream`
      const { turnId } = await kernel.api.turns.send(chat, { text })
      const ended = untilEnd(kernel, chat, turnId)
      if (round % 3 !== 0) await nextEvent(kernel, chat, "turn_started")
      void kernel.api.turns.cancel(turnId)
      if (round % 2 === 0) await ended
    }
    await kernel.turn(chat, "last")
    const messages = kernel.api.messages.page(chat, { limit: 500 })
    const turns = messages.map((message) => message.turn_id)
    expect(turns).toEqual([...turns].sort())
    for (const [index, message] of messages.entries()) {
      if (message.role === "assistant") expect(messages[index - 1]!.turn_id).toBe(message.turn_id)
    }
  })
})
