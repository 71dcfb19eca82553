/** What is found, what is not, and how it is shown. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { HistoryPage } from "../../src/schema/history-search.ts"
import { MACHINE_TEXT } from "../../src/schema/machine-text.ts"
import { call, result, text } from "../chats/rig.ts"
import { type HistoryRig, historyRig } from "./rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let rig: HistoryRig
let chat: string
beforeEach(() => {
  rig = historyRig()
  chat = rig.newChat("Trip to Oslo")
})
afterEach(() => rig.dispose())

describe("text", () => {
  test("is found anywhere in a message, newest first, in every chat", async () => {
    rig.say(chat, "The ferry leaves at nine")
    rig.answer(rig.newChat(), "No ferryman today")
    rig.say(chat, "nothing of it")
    expect(await rig.found("ferry")).toEqual(["No ferryman today", "The ferry leaves at nine"])
  })

  test("ignores case in every script, ё, forms of one letter and the final sigma", async () => {
    rig.say(chat, "ПРИЁМ в ёлочном ЛЕСУ")
    rig.say(chat, "ΟΔΟΣ ΣΟΦΙΑΣ")
    rig.say(chat, "CAFE\u0301 Straße")
    expect(await rig.found("прием в елочном лесу")).toEqual(["ПРИЁМ в ёлочном ЛЕСУ"])
    expect(await rig.found("οδος")).toEqual(["ΟΔΟΣ ΣΟΦΙΑΣ"])
    expect(await rig.found("café STRASSE")).toEqual([])
    expect(await rig.found("café straße")).toEqual(["CAFÉ Straße"])
  })

  test("may be shorter than three characters", async () => {
    rig.say(chat, "日本へ行く")
    rig.say(chat, "ok, go")
    expect(await rig.found("日")).toEqual(["日本へ行く"])
    expect(await rig.found("GO")).toEqual(["ok, go"])
    expect(await rig.found("👍")).toEqual([])
  })

  test("has no special characters", async () => {
    const odd = `100%_sure "quoted" it's a*b AND (c) \\ NEAR`
    rig.say(chat, odd)
    rig.say(chat, "100 percent sure quoted its ab and c near")
    for (const part of ["100%_", `"quoted"`, "it's", "a*b AND", "(c) \\", "%", "_", `"`]) {
      expect([part, await rig.found(part)]).toEqual([part, [odd]])
    }
  })

  test("that is empty is refused", async () => {
    await expect(rig.search(" \n")).rejects.toThrow("the query is empty")
  })

  test("stands in a snippet that splits no character", async () => {
    rig.say(chat, `${"😀".repeat(200)} needle ${"👩‍👩‍👧 ".repeat(200)}`)
    const [shown] = await rig.found("needle")
    expect(shown).toStartWith("…😀")
    expect(shown).toEndWith("…")
    expect(shown!.isWellFormed()).toBe(true)
    expect(shown!.length).toBeLessThan(300)
  })
})

describe("words", () => {
  test("are whole and stand in any order", async () => {
    rig.say(chat, "Кот спит, а пёс — нет")
    rig.say(chat, "Котлета и пёс")
    expect(await rig.found("пес кот", { match: "words" })).toEqual(["Кот спит, а пёс — нет"])
    expect(await rig.found("C++ ?", { match: "words" })).toEqual([])
  })
})

describe("regular expressions", () => {
  test("are JavaScript's, without case, over the lines of a message", async () => {
    rig.say(chat, "Order №1234 shipped\nby train")
    rig.say(chat, "Order №12 lost")
    expect(await rig.found("order №\\d{4}", { match: "regex" })).toEqual([
      "Order №1234 shipped by train",
    ])
    expect(await rig.found("^by (train|bus)$", { match: "regex" })).toHaveLength(1)
    expect(await rig.found("(shipped|lost)", { match: "regex" })).toHaveLength(2)
    expect(await rig.found("№12(34)? .*T", { match: "regex" })).toHaveLength(1)
  })

  test("that are none are refused with the reason", async () => {
    await expect(rig.search("(", { match: "regex" })).rejects.toThrow("no regular expression")
    await expect(rig.search("x*", { match: "regex" })).rejects.toThrow("matches the empty text")
  })

  test("that do not come to their end are ended, and the next search works", async () => {
    rig.say(chat, `${"a".repeat(60)}!`)
    await expect(rig.search("^(a|a)+$", { match: "regex" })).rejects.toThrow("come to its end")
    expect(await rig.found("aaa!")).toHaveLength(1)
  })
})

describe("filters", () => {
  test("by chat, by who said it and by time", async () => {
    const other = rig.newChat()
    rig.say(chat, "word of the master")
    rig.clock.advance(60_000)
    const noon = rig.clock.now()
    rig.sayAs("p7", chat, "word of Anna")
    rig.answer(other, "word of the agent")
    expect(await rig.found("word", { chatId: other })).toEqual(["word of the agent"])
    expect(await rig.found("word", { who: "master" })).toEqual(["word of the master"])
    expect(await rig.found("word", { who: "agent" })).toEqual(["word of the agent"])
    expect(await rig.found("word", { who: "p7" })).toEqual(["word of Anna"])
    expect(await rig.found("word", { to: noon })).toEqual(["word of the master"])
    expect(await rig.found("word", { from: noon, chatId: chat })).toEqual(["word of Anna"])
  })

  test("FRG-019 CTX-25 THIST-2: speech only, unless service text is asked for", async () => {
    rig.say(chat, "the zebra spoke")
    rig.add(chat, "user", [text(`${MACHINE_TEXT.kernel_note.marker} zebra noted`)])
    rig.add(chat, "assistant", [{ type: "thinking", text: "a zebra?" }, call("c1")])
    rig.add(chat, "user", [result("c1", "zebra output")])
    expect(await rig.found("zebra")).toEqual(["the zebra spoke"])
    expect(await rig.found("zebra", { includeService: true })).toEqual([
      "zebra output",
      "[kernel] zebra noted",
      "the zebra spoke",
    ])
  })
})

describe("pages", () => {
  const collect = async (limit: number, includeService: boolean) => {
    const all: string[] = []
    let before: number | undefined
    do {
      const page: HistoryPage = await rig.search("item", {
        ...{ limit, includeService },
        ...(before !== undefined && { before }),
      })
      expect(page.hits.length).toBeLessThanOrEqual(limit)
      all.push(...page.hits.map((hit) => hit.text))
      before = page.next
    } while (before !== undefined)
    return all
  }

  test("hold every hit once, whatever their size", async () => {
    for (let i = 0; i < 25; i++) {
      rig.add(chat, "assistant", [text(`item ${i}`), call(`c${i}`, `item_${i}`)])
    }
    const spoken = Array.from({ length: 25 }, (_, i) => `item ${24 - i}`)
    expect(await collect(7, false)).toEqual(spoken)
    expect(await collect(25, false)).toEqual(spoken)
    expect(await collect(1, true)).toHaveLength(50)
    expect(await collect(7, true)).toEqual(await collect(50, true))
  })
})

test("a page that is not read to its end leaves no reader that would hold the log", async () => {
  for (let i = 0; i < 5; i++) rig.say(chat, `lantern ${i}`)
  expect((await rig.search("lantern", { limit: 1 })).next).toBeDefined()
  expect((await rig.search("la", { limit: 1 })).next).toBeDefined()
  expect(rig.store.emptyLog()).toBe(true)
})

describe("context", () => {
  test("shows what was said before and after, without what tools put between", async () => {
    rig.say(chat, "first")
    rig.say(chat, "second")
    rig.add(chat, "assistant", [call("c1")])
    rig.add(chat, "user", [result("c1")])
    rig.answer(chat, "the needle")
    rig.sayAs("p7", chat, "third")
    const [hit] = (await rig.search("needle", { context: 1 })).hits
    expect(hit!.earlier.map(({ who, text }) => [who, text])).toEqual([["master", "second"]])
    expect(hit!.later.map(({ who, text }) => [who, text])).toEqual([["p7", "third"]])
    expect(hit).toMatchObject({ chatId: chat, title: "Trip to Oslo", who: "agent", service: false })
  })
})
