import { afterEach, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { type Tool, ToolFailure } from "../../src/tools/tool.ts"
import {
  plan,
  type TestKernel,
  type TestKernelOptions,
  testKernel,
  texts,
} from "../support/kernel.ts"

let kernel: TestKernel
const start = async (options: TestKernelOptions = {}, tools: Tool[] = []): Promise<string> => {
  kernel = await testKernel(options)
  kernel.api.registry.registerAll(tools)
  return kernel.newChat()
}
afterEach(() => kernel.dispose())

const tool = (name: string, run: Tool["run"], more: Partial<Tool> = {}): Tool => ({
  ...{ name, group: "test", description: `Tool ${name}.`, gates: [], traits: {} },
  input: Type.Object({}, { additionalProperties: true }),
  run,
  ...more,
})
const answers = (name: string, output = `${name} ran`) => tool(name, async () => ({ output }))
const blocksOf = (chat: string) =>
  kernel.api.messages.page(chat, { limit: 500 }).flatMap((message) => message.blocks)

describe("the loop", () => {
  test("TURN-001: one message is one turn that goes on until the model answers without calls", async () => {
    const chat = await start({}, [answers("look")])
    const events = await kernel.turn(
      chat,
      plan([
        { call: "look", input: {} },
        { calls: [{ name: "look" }, { name: "look" }] },
        { say: "seen" },
      ]),
    )
    expect(texts(events)).toBe("seen")
    expect(events.filter((event) => event.type === "tool_result")).toHaveLength(3)
    expect(events.at(-1)).toEqual({ type: "done", reason: "done" })
    expect(kernel.requests).toHaveLength(3)
  })

  test("TURN-002: the cap on provider trips ends the turn with an error and keeps what was done", async () => {
    const chat = await start({ config: { llm: { max_turn_iterations: 3 } } }, [answers("look")])
    const step = { say: "looking", call: "look", input: {} }
    const events = await kernel.turn(chat, plan([step, step, step, step, { say: "never" }]))
    expect(kernel.requests).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ type: "error", code: "iterations", retryable: false })
    expect(blocksOf(chat).filter((block) => block.type === "tool_result")).toHaveLength(3)
    expect(texts(await kernel.turn(chat, "still there?"))).toBe("still there?")
  })

  test("TURN-003 CTX-23: two trips before the cap the request carries a [wrapup] warning, not earlier", async () => {
    const chat = await start({ config: { llm: { max_turn_iterations: 4 } } }, [answers("look")])
    const step = { call: "look", input: {} }
    await kernel.turn(chat, plan([step, step, step, step]))
    const warned = kernel.requests.map((request) =>
      request.messages
        .at(-1)!
        .blocks.some((block) => block.type === "text" && block.text.startsWith("[wrapup]")),
    )
    expect(warned).toEqual([false, true, true, true])
    expect(JSON.stringify(blocksOf(chat))).not.toContain("[wrapup]")
  })

  test("uncapped_iterations lifts the cap for a trusted client and is ignored otherwise", async () => {
    const chat = await start({ config: { llm: { max_turn_iterations: 2 } } }, [answers("look")])
    const text = plan([{ call: "look" }, { call: "look" }, { call: "look" }, { say: "through" }])
    const capped = await kernel.turn(chat, { text, uncapped_iterations: true })
    expect(capped.at(-1)).toMatchObject({ type: "error", code: "iterations" })
    const free = await kernel.turn(chat, { text, uncapped_iterations: true, trusted: true })
    expect(texts(free)).toBe("through")
  })

  test("TURN-006 TURN-007: a tool that appears during a step is offered from the next one only", async () => {
    const late = answers("late")
    const chat = await start({}, [
      tool("open", async () => {
        kernel.api.registry.register(late)
        return { output: "opened" }
      }),
    ])
    await kernel.turn(
      chat,
      plan([{ calls: [{ name: "open" }, { name: "late" }] }, { call: "late" }, { say: "done" }]),
    )
    const offered = kernel.requests.map((request) =>
      request.tools.some((one) => one.name === "late"),
    )
    expect(offered).toEqual([false, true, true])
    const results = blocksOf(chat).filter((block) => block.type === "tool_result")
    expect(results.map((result) => result.is_error)).toEqual([false, true, false])
  })

  test("TURN-016: an ordinary tool error is told to the model and the turn goes on", async () => {
    const chat = await start({}, [
      tool("broken", async () => {
        throw new ToolFailure("the disk is full")
      }),
    ])
    const events = await kernel.turn(chat, plan([{ call: "broken" }, { say: "noted" }]))
    expect(events.find((event) => event.type === "tool_result")).toMatchObject({
      is_error: true,
      output: "the disk is full",
    })
    expect(texts(events)).toBe("noted")
  })

  test("TURN-017 TOOL-8 TOOL-9: a fatal tool error ends the turn with every pair closed, and the chat goes on", async () => {
    let ran = 0
    const chat = await start({}, [
      tool("fatal", async () => {
        throw new ToolFailure("the kernel is not up yet", { scope: "turn" })
      }),
      tool("after", async () => {
        ran++
        return { output: "ran" }
      }),
    ])
    const events = await kernel.turn(
      chat,
      plan([{ calls: [{ name: "fatal" }, { name: "after" }] }, { say: "no" }]),
    )
    expect(events.at(-1)).toMatchObject({ type: "error", message: "the kernel is not up yet" })
    expect(ran).toBe(0)
    expect(blocksOf(chat).filter((block) => block.type === "tool_result")).toHaveLength(2)
    expect(texts(await kernel.turn(chat, "go on"))).toBe("go on")
  })

  test("TURN-019 TOOL-39: success of an ends-turn tool closes the turn, its failure does not", async () => {
    let fail = true
    const chat = await start({}, [
      tool(
        "submit",
        async () => {
          if (fail) throw new ToolFailure("not yet")
          return { output: "submitted" }
        },
        { traits: { endsTurn: true } },
      ),
    ])
    const text = plan([{ call: "submit" }, { say: "after a failure" }])
    expect(texts(await kernel.turn(chat, text))).toBe("after a failure")
    fail = false
    const events = await kernel.turn(chat, text)
    expect(texts(events)).toBe("")
    expect(events.at(-1)).toEqual({ type: "done", reason: "done" })
  })

  test("calls run in order; neighbours that may run side by side do", async () => {
    const order: string[] = []
    let together = 0
    let most = 0
    const slow = (name: string, concurrent: boolean) =>
      tool(
        name,
        async () => {
          order.push(name)
          together++
          most = Math.max(most, together)
          await new Promise((resolve) => setImmediate(resolve))
          together--
          return { output: name }
        },
        { traits: { concurrent } },
      )
    const chat = await start({}, [slow("read", true), slow("write", false)])
    await kernel.turn(chat, plan([{ calls: [{ name: "write" }, { name: "write" }] }, { say: "x" }]))
    expect(most).toBe(1)
    await kernel.turn(
      chat,
      plan([{ calls: [{ name: "read" }, { name: "read" }, { name: "write" }] }, { say: "x" }]),
    )
    expect(most).toBe(2)
    expect(order).toEqual(["write", "write", "read", "read", "write"])
  })

  test("a call that the output limit cut is never run, and repeating it ends the turn after two tries", async () => {
    let ran = 0
    const chat = await start({}, [
      tool("write", async () => {
        ran++
        return { output: "written" }
      }),
    ])
    const cut = { call: "write", raw: '{"content": "half a fi', stop: "length" }
    const events = await kernel.turn(chat, plan([cut, cut, cut, cut, { say: "never" }]))
    expect(ran).toBe(0)
    expect(kernel.requests).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ type: "error", code: "length" })
    expect(events.find((event) => event.type === "tool_result")).toMatchObject({
      is_error: true,
      output: expect.stringContaining("smaller parts"),
    })
    const whole = { call: "write", raw: '{"content": "whole"}', stop: "length" }
    await kernel.turn(chat, plan([whole, { say: "x" }], "whole but cut"))
    expect(ran).toBe(0)
  })

  test("a server that calls a cut by its limit something else is seen through by the count", async () => {
    const chat = await start({ config: { llm: { max_tokens: 100 } } }, [answers("write")])
    const raw = '{"content": "half a fi'
    const text = plan([{ call: "write", raw, usage: { completion_tokens: 100 } }, { say: "x" }])
    const events = await kernel.turn(chat, text)
    expect(events.find((event) => event.type === "tool_result")!.output).toContain("output limit")
    const broken = await kernel.turn(
      chat,
      plan([{ call: "write", raw }, { say: "x" }], "just broken"),
    )
    expect(broken.find((event) => event.type === "tool_result")!.output).toContain("JSON")
  })

  test("TURN-034: a tool out of reach is not offered, and a guest's call of it is refused", async () => {
    const chat = await start({}, [
      tool("secret", async () => ({ output: "!" }), { gates: ["master_only"] }),
    ])
    await kernel.turn(chat, "hi")
    const events = await kernel.turn(chat, {
      text: plan([{ call: "secret" }, { say: "x" }]),
      guest: true,
    })
    expect(kernel.requests[0]!.tools.map((one) => one.name)).toContain("secret")
    expect(kernel.requests[1]!.tools.map((one) => one.name)).not.toContain("secret")
    expect(events.find((event) => event.type === "tool_result")).toMatchObject({ is_error: true })
  })
})

describe("what a turn stores and sends", () => {
  test("TURN-005: every request is strict: system first, pairs whole, the user's message last with [state] at its end", async () => {
    const chat = await start({}, [answers("look")])
    await kernel.turn(chat, plan([{ think: "hm", say: "a", call: "look" }, { say: "b" }]))
    await kernel.turn(chat, "next")
    // The strict mock refuses anything else; the shape of the tail is ours to check.
    for (const request of kernel.requests) {
      expect(request.system[0]!.text).not.toBe("")
      const last = request.messages.at(-1)!
      expect(last.role).toBe("user")
      expect(last.blocks.at(-1)).toMatchObject({
        type: "text",
        text: expect.stringMatching(/^\[state\]\n\[now\] /),
      })
    }
  })

  test("TURN-026 TURN-027 CTX-76: thoughts are stored and streamed, go back within their turn and never later", async () => {
    const chat = await start({}, [answers("look")])
    const events = await kernel.turn(
      chat,
      plan([{ think: "secretly", call: "look" }, { think: "only this" }]),
    )
    expect(events.some((event) => event.type === "thinking_delta")).toBe(true)
    expect(blocksOf(chat).filter((block) => block.type === "thinking")).toHaveLength(2)
    expect(JSON.stringify(kernel.requests[1]!.messages)).toContain("secretly")
    await kernel.turn(chat, "next")
    const later = kernel.requests.at(-1)!.messages
    const said = later.filter((message) => message.role === "assistant")
    expect(JSON.stringify(said)).not.toContain("secretly")
    expect(said).toHaveLength(1)
    expect(later.every((message) => message.blocks.length > 0)).toBe(true)
  })

  test("TURN-028: all messages of a turn share its id, equal in generation, items and storage", async () => {
    const chat = await start({}, [
      tool("who", async (context) => {
        const [generation] = kernel.api.turns.generations()
        return { output: `${context.turnId} ${generation!.id}` }
      }),
    ])
    await kernel.turn(chat, plan([{ call: "who" }, { say: "x" }]))
    const messages = kernel.api.messages.page(chat, {})
    const ids = new Set(messages.map((message) => message.turn_id))
    expect(ids.size).toBe(1)
    const [id] = ids
    expect(blocksOf(chat).find((block) => block.type === "tool_result")!.output).toBe(`${id} ${id}`)
    expect(new Set(kernel.api.items.itemPage(chat, {}).map((item) => item.turn_id))).toEqual(
      new Set([id!]),
    )
  })

  test("STAT-12: every trip is one row of spend with the turn's source, and one usage event", async () => {
    const chat = await start({}, [answers("look")])
    const events = await kernel.turn(chat, plan([{ call: "look" }, { say: "x" }]))
    expect(events.filter((event) => event.type === "usage")).toHaveLength(2)
    const spend = await kernel.api.spend.ofChat(chat, { tokens: 0, prefix_tokens: null })
    expect(spend.by_source).toMatchObject([{ source: "message", requests: 2 }])
  })

  test("LLM-027 CTX-34 CTX-35: the last answer's own count anchors the size of the context", async () => {
    const chat = await start()
    const events = await kernel.turn(chat, "hello")
    const usage = events.find((event) => event.type === "usage")!
    expect(kernel.api.chats.contextAnchor(chat)).toEqual({
      tokens: usage.prompt_tokens + usage.completion_tokens,
      messageId: kernel.api.messages.page(chat, {}).at(-1)!.id,
    })
  })

  test("a guest's turn gets the lower answer ceiling, the master's the full one", async () => {
    const chat = await start({ config: { llm: { max_tokens: 5000, max_tokens_guest: 700 } } })
    await kernel.turn(chat, "hi")
    await kernel.turn(chat, { text: "hi", guest: true })
    await kernel.turn(chat, { text: "hi", max_tokens: 100 })
    expect(kernel.requests.map((request) => request.maxTokens)).toEqual([5000, 700, 100])
  })

  test("LLM-013 LLM-014 SURF-009: effort and model follow their order of precedence", async () => {
    const models = [{ name: "mock", effort: "low" }, { name: "other" }, { name: "third" }]
    const chat = await start({ config: { llm: { models, reasoning: "mid" } } })
    const { chats } = kernel.api
    await kernel.turn(chat, "a")
    await kernel.turn(chat, { text: "b", surface_effort: "off", surface_model: "other" })
    chats.setEffort(chat, "mid")
    chats.setModel(chat, "third")
    await kernel.turn(chat, { text: "c", surface_effort: "off", surface_model: "other" })
    await kernel.turn(chat, "please ultrathink about `ultrathink`")
    await kernel.turn(chat, "`ultrathink` is code")
    await kernel.turn(chat, { text: "ultrathink", guest: true })
    await kernel.turn(chat, { text: "ultrathink", effort: "low", model: "other" })
    expect(kernel.requests.map(({ model, effort }) => `${model} ${effort}`)).toEqual([
      "mock low",
      "other off",
      "third mid",
      "third high",
      "third mid",
      "third mid",
      "other low",
    ])
    const state = (index: number) => JSON.stringify(kernel.requests[index]!.messages.at(-1))
    expect(state(3)).toContain("think this through")
    expect(state(4)).not.toContain("think this through")
  })

  test("a refused turn is kept for people and left out of later prompts", async () => {
    const chat = await start()
    const events = await kernel.turn(chat, plan([{ fail: "refused" }], "forbidden words"))
    expect(events.at(-1)).toMatchObject({ type: "error", code: "refused" })
    await kernel.turn(chat, "something else")
    expect(JSON.stringify(kernel.requests.at(-1)!.messages)).not.toContain("forbidden words")
    expect(JSON.stringify(blocksOf(chat))).toContain("forbidden words")
  })

  test("an overflow is told with its class and the chat stays usable", async () => {
    const chat = await start()
    const events = await kernel.turn(chat, plan([{ fail: "overflow" }]))
    expect(events.at(-1)).toMatchObject({ type: "error", code: "overflow" })
    expect(kernel.requests).toHaveLength(1)
    expect(texts(await kernel.turn(chat, "again"))).toBe("again")
  })

  test("LLM-005: a transient failure is retried on the same model, told to clients, and leaves no trace in history", async () => {
    const chat = await start()
    const events = await kernel.turn(chat, plan([{ fail: "transient" }, { say: "there" }]))
    expect(events.filter((event) => event.type === "retry")).toHaveLength(1)
    expect(texts(events)).toBe("there")
    expect(kernel.api.messages.page(chat, {})).toHaveLength(2)
  })
})
