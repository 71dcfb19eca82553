/** What a new chat is called: its first line, or what a model makes of it. */
import { afterEach, describe, expect, test } from "bun:test"
import { deferred } from "../../src/lib/async.ts"
import { createLog } from "../../src/lib/log.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { cleanTitle } from "../../src/turn/title.ts"
import { plan, type TestKernel, type TestKernelOptions, testKernel } from "../support/kernel.ts"

describe("a title as models write it", () => {
  test.each([
    ["Sourdough starter", "Sourdough starter"],
    ['"Sourdough starter"', "Sourdough starter"],
    ['Title: "Sourdough starter."', "Sourdough starter"],
    ['"Sourdough starter".', "Sourdough starter"],
    ["**Title:** Sourdough starter", "Sourdough starter"],
    ["# Name: `Sourdough starter`\n\nThis title says what it is about.", "Sourdough starter"],
    ["\n\n  Sourdough starter \nSecond line", "Sourdough starter"],
    ["«Закваска пахнет ацетоном».", "Закваска пахнет ацетоном"],
    ["„Sauerteig riecht nach Aceton“", "Sauerteig riecht nach Aceton"],
    ["Don't panic", "Don't panic"],
    ["Version 1.2 of C#", "Version 1.2 of C#"],
    ["Subtitle: a film", "Subtitle: a film"],
    ["发酵的酸面团 🍞", "发酵的酸面团 🍞"],
    ['"".', ""],
    ["", ""],
  ])("LLM-035 CTX-91: %j becomes %j", (answer, title) => {
    expect(cleanTitle(answer)).toBe(title)
  })

  test("LLM-035: a long one is cut at a word", () => {
    const title = cleanTitle("word ".repeat(100))
    expect(title.length).toBeLessThanOrEqual(80)
    expect(title).toEndWith("word…")
  })
})

describe("the title of a chat", () => {
  let kernel: TestKernel
  afterEach(() => kernel.dispose())

  const SUMMARY = { config: { llm: { summary_model: "other" } } }
  const isTitleCall = (request: ModelRequest) => request.model === "other"

  const start = async (options: TestKernelOptions = {}): Promise<string> => {
    kernel = await testKernel(options)
    return kernel.newChat()
  }
  const titleOf = (chat: string) => kernel.api.chats.get(chat).title
  /** Runs the first turn of a chat until the kernel names it anew behind it. */
  const untilNamed = async (chat: string, text: string): Promise<string> => {
    const named = deferred()
    let isOver = false
    const { unsubscribe } = kernel.api.bus.subscribe({ chats: [chat] }, ({ type }) => {
      isOver ||= type === "done"
      if (isOver && type === "chat_changed") named.resolve()
    })
    await kernel.turn(chat, text)
    await named.promise
    unsubscribe()
    return titleOf(chat)
  }
  const sourcesOf = async (chat: string): Promise<string[]> => {
    const { by_source } = await kernel.api.spend.ofChat(chat, { tokens: 0, prefix_tokens: null })
    return by_source.map(({ source, requests }) => `${source} ${requests}`).sort()
  }

  test("LLM-035: without a model for it the first line is the title, and no model is asked", async () => {
    const chat = await start()
    await kernel.turn(chat, "Is my sourdough dead?\nIt smells.")
    await kernel.turn(chat, "And now?")
    expect(titleOf(chat)).toBe("Is my sourdough dead?")
    expect(kernel.requests).toHaveLength(2)
  })

  test("LLM-035 CTX-91: summary_model is asked once with two examples, and its answer is cleaned", async () => {
    const chat = await start(SUMMARY)
    const said = plan([{ say: 'Title: "Sourdough smells of acetone."\nHere you are.' }], "hello")
    expect(await untilNamed(chat, said)).toBe("Sourdough smells of acetone")
    await kernel.turn(chat, "more")
    const asked = kernel.requests.filter(isTitleCall)
    expect(asked).toHaveLength(1)
    const { system, messages, effort, maxTokens, tools } = asked[0]!
    expect(system[0]!.text.match(/^Message: /gm)).toHaveLength(2)
    expect(system[0]!.text.match(/^Name: /gm)).toHaveLength(2)
    expect(system[0]!.text).not.toMatch(/\b(?:not|never|don't|avoid)\b/i)
    expect(messages).toEqual([{ role: "user", blocks: [{ type: "text", text: said }] }])
    expect({ effort, maxTokens, tools }).toEqual({ effort: "off", maxTokens: 64, tools: [] })
  })

  test("LLM-035: what it cost is a row of the chat's spend under its own source", async () => {
    const chat = await start(SUMMARY)
    await untilNamed(chat, plan([{ say: "A name" }], "hello"))
    expect(await sourcesOf(chat)).toEqual(["message 1", "title 1"])
  })

  test("LLM-035: a failure leaves the first line and is logged", async () => {
    const logged = deferred<string>()
    const write = (line: string) => {
      if (line.includes("no title")) logged.resolve(line)
    }
    const log = createLog({ level: "warn", human: false, write })
    const chat = await start({ ...SUMMARY, log, mock: { refuse: isTitleCall } })
    await kernel.turn(chat, "hello there")
    expect(await logged.promise).toContain("content filter")
    expect(titleOf(chat)).toBe("hello there")
  })

  test("LLM-035: a chat that was named while the model thought keeps its name", async () => {
    const asked = deferred()
    const chat = await start({
      ...SUMMARY,
      mock: {
        observe: (request) => {
          if (!isTitleCall(request)) return
          kernel.api.chats.patch(chat, { title: "My own name" })
          asked.resolve()
        },
      },
    })
    await kernel.turn(chat, "hello")
    await asked.promise
    await kernel.turn(chat, "more")
    // The row and the title are written in one go: by now the title was decided on.
    expect(await sourcesOf(chat)).toContain("title 1")
    expect(titleOf(chat)).toBe("My own name")
  })
})
