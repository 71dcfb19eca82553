/** Folds and summaries that somebody asks for: the agent by its tools, a client by the API. */
import { afterEach, describe, expect, test } from "bun:test"
import { nextEvent, plan, type SeenEvent, texts } from "../../support/kernel.ts"
import { type FoldRig, foldRig, spokenIn, stateOf, wordy } from "./rig.ts"

let rig: FoldRig
afterEach(() => rig.kernel.dispose())

const ROOMY = { compact_after_tokens: 50_000, compact_keep_tokens: 20_000 }

async function talk(turns: number, context = ROOMY): Promise<string> {
  let folds = 0
  rig = await foldRig({ context, handover: () => ({ say: `HANDOVER ${++folds}` }) })
  const chat = rig.kernel.newChat()
  for (let at = 0; at < turns; at++) {
    await rig.kernel.turn(chat, plan([{ say: "yes" }], wordy(`part ${at}`, 300)))
  }
  return chat
}

const call = (chat: string, name: string, input: object = {}): Promise<SeenEvent[]> =>
  rig.kernel.turn(chat, plan([{ call: name, input }, { say: "ok" }], `do ${name}`))
const output = (events: readonly SeenEvent[]): string =>
  events.flatMap((event) => (event.type === "tool_result" ? [event.output] : [])).join("\n")

describe("the tools", () => {
  test("CTX-31 THIST-4: chat_compact folds without waiting for the threshold, and its own turn sees it", async () => {
    const chat = await talk(5)
    const events = await call(chat, "chat_compact")
    expect(output(events)).toMatch(/^folded 10 messages, about \d+ tokens are free$/)
    const last = rig.asked().at(-1)!
    expect(spokenIn(last)).not.toContain("part 4")
    expect(spokenIn(last)).toContain("do chat_compact")
    expect(stateOf(last)).toContain("> HANDOVER 1")
    expect(events.filter(({ type }) => type === "tool_result")).toHaveLength(1)
    expect(texts(await rig.kernel.turn(chat, "next"))).toBe("next")
  })

  test("THIST-4: with nothing older than its own turn it says so and folds nothing", async () => {
    const chat = await talk(0)
    const events = await call(chat, "chat_compact")
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true })
    expect(output(events)).toContain("nothing was folded: there is nothing older")
    expect(rig.summed()).toHaveLength(0)
  })

  test("CTX-31 THIST-5: chat_rebuild tells the summary anew out of the messages, with its progress", async () => {
    const chat = await talk(5)
    await call(chat, "chat_compact")
    const events = await call(chat, "chat_rebuild")
    expect(output(events)).toContain("written anew out of 10 messages:\nHANDOVER 2")
    expect(events.filter(({ type }) => type === "tool_progress")).toMatchObject([
      { output: "stretch 1 of 1" },
    ])
    const question = spokenIn(rig.summed()[1])
    expect(question).not.toContain("HANDOVER 1")
    expect(question).toContain("> part 0")
    expect(rig.kernel.api.summaries.get(chat)!.text).toBe("HANDOVER 2")
  })

  test("THIST-5: a rebuild that fails says so and leaves the summary as it was", async () => {
    let folds = 0
    rig = await foldRig({
      context: ROOMY,
      handover: () => (++folds === 1 ? { say: "HANDOVER" } : { fail: "fatal" }),
    })
    const chat = rig.kernel.newChat()
    await rig.kernel.turn(chat, wordy("part", 700))
    await call(chat, "chat_compact")
    const events = await call(chat, "chat_rebuild")
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true })
    expect(output(events)).toContain("nothing was folded: mock:")
    expect(rig.kernel.api.summaries.get(chat)!.text).toBe("HANDOVER")
  })

  test("CTX-32 CTX-44 THIST-6 THIST-7: the summary is read whole, however long, and replaced", async () => {
    const chat = await talk(5)
    expect(output(await call(chat, "chat_summary_get"))).toBe("nothing of this chat is folded")
    const early = await call(chat, "chat_summary_set", { text: "mine" })
    expect(early.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true })
    await call(chat, "chat_compact")
    const long = `BEGIN ${"detail ".repeat(1500)}END`
    expect(output(await call(chat, "chat_summary_set", { text: long }))).toBe("replaced")
    expect(stateOf(rig.asked().at(-1))).toContain("> BEGIN detail")
    await call(chat, "chat_summary_get")
    const shown = rig
      .asked()
      .at(-1)!
      .messages.flatMap(({ blocks }) => blocks)
    expect(shown).toContainEqual(
      expect.objectContaining({ type: "tool_result", output: long }) as never,
    )
  })

  test("none of them is there for guests", async () => {
    const chat = await talk(1)
    const { id } = rig.kernel.api.persons.resolve({ source: "telegram", ext_id: "9", name: "Anna" })
    await rig.kernel.turn(chat, {
      ...{ text: plan([{ call: "chat_compact" }, { say: "ok" }]), sender: id },
      anchor: "1",
    } as never)
    expect(rig.kernel.api.summaries.get(chat)).toBeUndefined()
  })
})

describe("what happens to the chat happens to its summary", () => {
  test("a cleared chat has none", async () => {
    const chat = await talk(5)
    await call(chat, "chat_compact")
    await rig.kernel.api.chats.clear(chat)
    expect(rig.kernel.api.summaries.get(chat)).toBeUndefined()
    await rig.kernel.turn(chat, "hello")
    expect(stateOf(rig.asked().at(-1))).not.toContain("[summary]")
  })

  test("neither has one that clears itself by the tool", async () => {
    const chat = await talk(5)
    await call(chat, "chat_compact")
    await call(chat, "chat_clear")
    await rig.kernel.turn(chat, "hello")
    expect(stateOf(rig.asked().at(-1))).not.toContain("[summary]")
  })

  test("API-049: a cut that reaches into the folded part drops it, one behind it does not", async () => {
    const chat = await talk(5)
    await call(chat, "chat_compact")
    const messages = rig.kernel.api.messages.page(chat, {})
    const { upto } = rig.kernel.api.summaries.get(chat)!
    const behind = messages.find(({ id }) => id > upto)!
    await rig.kernel.api.chats.rewind(chat, behind.id)
    expect(rig.kernel.api.summaries.get(chat)?.upto).toBe(upto)
    await rig.kernel.api.chats.rewind(chat, upto)
    expect(rig.kernel.api.summaries.get(chat)).toBeUndefined()
    await rig.kernel.turn(chat, "next")
    expect(spokenIn(rig.asked().at(-1))).toContain("part 0")
  })

  test("CHAT-21: a branch takes it along when all that it tells of was copied", async () => {
    const chat = await talk(5)
    await call(chat, "chat_compact")
    const { api } = rig.kernel
    const messages = api.messages.page(chat, {})
    const { upto, verbatim } = api.summaries.get(chat)!
    const last = messages.at(-1)!
    const branch = api.chats.fork(chat, { before_message: last.id }).id
    const taken = api.summaries.get(branch)!
    expect(taken).toMatchObject({ text: "HANDOVER 1", verbatim })
    expect(taken.upto).not.toBe(upto)
    expect(api.messages.page(branch, {}).map(({ id }) => id)).toContain(taken.upto)
    await rig.kernel.turn(branch, "next")
    const asked = rig.asked().at(-1)!
    expect(stateOf(asked)).toContain("> HANDOVER 1")
    expect(spokenIn(asked)).not.toContain("part 4")
    const early = api.chats.fork(chat, { before_message: upto }).id
    expect(api.summaries.get(early)).toBeUndefined()
    await rig.kernel.turn(early, "next")
    expect(spokenIn(rig.asked().at(-1))).toContain("part 0")
  })

  test("CHAT-20 API-034: a line that was shown once is not shown again in a branch", async () => {
    const chat = await talk(5)
    await call(chat, "chat_compact")
    const { chats, messages } = rig.kernel.api
    const folded = "[window] Older history was folded"
    await rig.kernel.turn(chat, "shown here")
    expect(stateOf(rig.asked().at(-1))).toContain(folded)
    const last = messages.page(chat, {}).at(-1)!
    const branch = chats.fork(chat, { before_message: last.id }).id
    await rig.kernel.turn(branch, "next")
    expect(stateOf(rig.asked().at(-1))).toContain("[summary]")
    expect(stateOf(rig.asked().at(-1))).not.toContain(folded)
  })

  test("what was folded stays searchable", async () => {
    const chat = await talk(5)
    await call(chat, "chat_compact")
    const events = await call(chat, "history_search", { query: "part 2", chat_id: "here" })
    expect(output(events)).toContain("part 2")
  })
})

test("a fold outside of a turn is told to whoever watches the chat", async () => {
  const chat = await talk(5)
  const told = nextEvent(rig.kernel, chat, "messages_changed")
  const result = await rig.kernel.api.folds.fold(chat, { signal: AbortSignal.timeout(60_000) })
  expect(result).toMatchObject({ folded: true, messages: 8 })
  expect(await told).toMatchObject({ reason: "compacted" })
})

test("one that is cancelled folds nothing", async () => {
  const chat = await talk(5)
  const result = await rig.kernel.api.folds.fold(chat, { signal: AbortSignal.abort() })
  expect(result).toMatchObject({ folded: false, failed: true })
  expect(rig.kernel.api.summaries.get(chat)).toBeUndefined()
})

test("two at once fold one after the other, and nothing twice", async () => {
  const chat = await talk(5)
  const signal = AbortSignal.timeout(60_000)
  const { folds } = rig.kernel.api
  const both = await Promise.all([folds.fold(chat, { signal }), folds.fold(chat, { signal })])
  expect(both.map(({ folded }) => folded)).toEqual([true, false])
  expect(rig.summed()).toHaveLength(1)
})
