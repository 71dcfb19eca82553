/** The live window of a surface's chat, and what settings hold for turns that came through one. */
import { afterEach, describe, expect, test } from "bun:test"
import { compactProfile } from "../../src/context/profile.ts"
import { isUtterance } from "../../src/context/utterance.ts"
import { liveWindow } from "../../src/context/window.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { MACHINE_TEXT } from "../../src/schema/machine-text.ts"
import type { Message } from "../../src/schema/message.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"
import { assistant, call, message, picture, result, text, user } from "./stored.ts"

const conversation = (utterances: number): Message[] =>
  Array.from({ length: utterances }, (_, index) => [
    user(text(`u${index}`)),
    assistant(text(`a${index}`)),
  ]).flat()

const utterances = (messages: readonly Message[]): number => messages.filter(isUtterance).length

describe("the window", () => {
  test("CACHE-12 TURN-046: holds limit to twice limit utterances and starts at multiples of it", () => {
    const limit = 5
    const starts = new Set<unknown>()
    for (let before = 0; before < 40; before++) {
      const shown = liveWindow(conversation(before), 1, limit)
      const size = utterances(shown) + 1
      if (before + 1 >= limit) {
        expect(size).toBeGreaterThanOrEqual(limit)
        expect(size).toBeLessThan(2 * limit)
      } else {
        expect(size).toBe(before + 1)
      }
      starts.add(shown[0] && JSON.stringify(shown[0].blocks))
    }
    // 40 utterances begin anew with each fifth.
    expect([...starts].filter(Boolean)).toHaveLength(8)
  })

  test("shows all without a limit, and a batch counts as so many utterances", () => {
    expect(liveWindow(conversation(50), 1, 0)).toHaveLength(100)
    // Ten in all begin a new window with the sixth; fifteen with the eleventh.
    expect(utterances(liveWindow(conversation(7), 3, 5))).toBe(2)
    expect(utterances(liveWindow(conversation(9), 6, 5))).toBe(0)
  })

  test("what the machine put in opens no move", () => {
    expect(isUtterance(user(text("hi")))).toBe(true)
    expect(isUtterance(user(picture("i1")))).toBe(true)
    expect(isUtterance(user(text("about [state] in the middle")))).toBe(true)
    for (const { marker } of Object.values(MACHINE_TEXT)) {
      expect([marker, isUtterance(user(text(`${marker}`)))]).toEqual([marker, false])
    }
    expect(isUtterance(user(result("a")))).toBe(false)
    expect(isUtterance(user(text(" ")))).toBe(false)
    expect(isUtterance(assistant(text("hi")))).toBe(false)
    const busy = Array.from({ length: 8 }, (_, index) => [
      user(text(`u${index}`)),
      assistant(call(`c${index}`)),
      user(result(`c${index}`)),
      user(text("[wrapup] hurry")),
      message("user", [text(MACHINE_TEXT.compaction_marker.marker)], { turn_id: null }),
      assistant(text("ok")),
    ]).flat()
    expect(utterances(liveWindow(busy, 1, 4))).toBe(4)
  })
})

describe("in a kernel", () => {
  let kernel: TestKernel
  afterEach(() => kernel.dispose())

  const spoken = (request: ModelRequest): string[] =>
    request.messages.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])),
    )
  const last = (): ModelRequest => kernel.requests.at(-1)!
  const ask = async (chat: string, anchored: boolean, [from, to]: [number, number]) => {
    for (let index = from; index < to; index++) {
      await kernel.turn(chat, {
        text: `say ${index}`,
        ...(anchored && { anchor: `telegram:${index}` }),
      })
    }
  }

  test("SURF-005 CFG-055: the turn's anchor gives the window, not the chat it is in", async () => {
    kernel = await testKernel({ config: { context: { telegram: { history_limit: 3 } } } })
    const chat = kernel.newChat()
    await ask(chat, false, [0, 8])
    expect(spoken(last()).join()).toContain("say 0")
    await ask(chat, true, [8, 9])
    const words = spoken(last()).join("\n")
    expect(words).not.toContain("say 5")
    expect(words).toContain("say 6")
    const inTelegram = kernel.api.chats.create({ surface: "telegram" })
    const surface = inTelegram.id
    await ask(surface, false, [0, 8])
    expect(spoken(last()).join()).toContain("say 0")
    // How soon history is folded goes by the chat.
    const { context } = kernel.api.config
    expect(compactProfile(context, inTelegram, "message")).toBe("med")
    expect(compactProfile(context, kernel.api.chats.get(chat), "message")).toBe("high")
  })

  test("CTX-51 CFG-054: what becomes of past traffic goes by where the turn came from, with or without a window", async () => {
    kernel = await testKernel({
      config: { context: { tool_result_keep: 0, telegram: { history_limit: 0 } } },
    })
    const step = { call: "no_such_tool", input: { note: "n" } }
    const calls = async (chat: string, anchor?: string): Promise<number> => {
      await kernel.turn(chat, plan([step, { say: "Sorry." }]))
      await kernel.turn(chat, { text: "and now?", ...(anchor !== undefined && { anchor }) })
      return last().messages.flatMap(({ blocks }) =>
        blocks.filter((block) => block.type === "tool_use"),
      ).length
    }
    expect(await calls(kernel.newChat())).toBe(1)
    expect(await calls(kernel.newChat(), "telegram:1")).toBe(0)
    expect(await calls(kernel.api.chats.create({ surface: "telegram" }).id)).toBe(0)
  })

  test("CTX-66 CFG-056: what a client adds is cut in its middle at the setting, and 0 takes all of it", async () => {
    kernel = await testKernel()
    const long = `begin${"x".repeat(500)}end`
    const shownOf = async (limit: number): Promise<string> => {
      await kernel.dispose()
      kernel = await testKernel({ config: { context: { client_context_chars: limit } } })
      await kernel.turn(kernel.newChat(), { text: "hi", trusted: true, context: long })
      return last()
        .system.map((part) => part.text)
        .join("")
    }
    expect(await shownOf(100)).toContain(`[middle cut: 408 chars of ${long.length}]`)
    expect(await shownOf(0)).toContain(long)
    expect(await shownOf(32_000)).toContain(long)
  })
})
