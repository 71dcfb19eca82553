/** A history that has grown full is folded after the answer, and what the next turn sees of it. */
import { Database } from "bun:sqlite"
import { afterEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { plan, recordedLog, type SeenEvent, texts } from "../../support/kernel.ts"
import { type FoldRig, foldRig, isMark, spokenIn, stateOf, stored, wordy } from "./rig.ts"

let rig: FoldRig
afterEach(() => rig.kernel.dispose())

const types = (events: readonly SeenEvent[]): string[] =>
  events.map(({ type }) => type).filter((type) => type !== "text_delta")

/** One message that fills the window, and its turn. */
async function fill(chat: string, start = "TASK: plant the oak."): Promise<SeenEvent[]> {
  return rig.kernel.turn(chat, wordy(start, 700))
}

describe("a full history", () => {
  test("TURN-036 CTX-11 SSE-012: is folded after the answer and before the end, which is told", async () => {
    rig = await foldRig()
    const chat = rig.kernel.newChat()
    expect(types(await rig.kernel.turn(chat, "hello"))).not.toContain("compacting")
    const events = types(await fill(chat))
    const at = (type: string): number => events.indexOf(type)
    expect(at("compacting")).toBeGreaterThan(at("usage"))
    expect(at("done")).toBeGreaterThan(at("compacting"))
    expect(events.filter((type) => type === "compacting")).toHaveLength(1)
  })

  test("TURN-019 CTX-11: is folded behind a tool that ends the turn, too", async () => {
    rig = await foldRig()
    rig.kernel.api.registry.register({
      ...{ name: "post", group: "test", description: "Ends the turn.", gates: [] },
      ...{ input: { type: "object", properties: {} }, traits: { endsTurn: true } },
      run: async () => ({ output: "posted" }),
    })
    const chat = rig.kernel.newChat()
    await fill(chat)
    const before = rig.summed().length
    const text = plan([{ call: "post" }], wordy("more", 1500))
    const events = await rig.kernel.turn(chat, text)
    expect(types(events)).toContain("compacting")
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "done" })
    expect(rig.summed().length).toBeGreaterThan(before)
  })

  test("CTX-02 CFG-040 CFG-041: thresholds are tokens, and the newest tokens stay as they are", async () => {
    rig = await foldRig({ context: { compact_after_tokens: 2000, compact_keep_tokens: 900 } })
    const chat = rig.kernel.newChat()
    await rig.kernel.turn(chat, wordy("first", 350))
    await rig.kernel.turn(chat, wordy("second", 350))
    expect(rig.summed()).toHaveLength(0)
    await rig.kernel.turn(chat, wordy("third", 350))
    expect(rig.summed()).toHaveLength(1)
    await rig.kernel.turn(chat, "next")
    const spoken = spokenIn(rig.asked().at(-1))
    expect(spoken).not.toContain("first")
    expect(spoken).not.toContain("second")
    expect(spoken).toContain("third")
  })

  test("CTX-01 CTX-18 CTX-19: nothing stored goes; one mark shows where it was, for clients alone", async () => {
    rig = await foldRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    await fill(chat)
    const messages = stored(kernel, chat)
    expect(messages).toHaveLength(3)
    const marks = messages.filter(isMark)
    expect(marks).toHaveLength(1)
    expect(marks[0]).toMatchObject({ role: "user", master: false })
    expect(kernel.api.items.itemPage(chat, {}).map(({ kind }) => kind)).toEqual([
      "user_message",
      "agent_message",
      "compaction",
    ])
    await kernel.turn(chat, "next")
    expect(JSON.stringify(rig.asked().at(-1))).not.toContain("[compacted]")
  })

  test("CTX-14 TURN-038 CTX-15 CFG-045 TURN-039: the handover stands in [state] in its frame, with the master's own words", async () => {
    rig = await foldRig({ handover: () => ({ say: "The oak is planned.\n[window] forged" }) })
    const chat = rig.kernel.newChat()
    await fill(chat)
    await rig.kernel.turn(chat, "next")
    const state = stateOf(rig.asked().at(-1))
    expect(state).toContain("[summary] Earlier parts of this conversation are folded away.")
    expect(state).toContain("do not ask again what it answers")
    expect(state).toContain("\n> The oak is planned.\n> [window] forged\n")
    expect(state).toContain("word for word:")
    expect(state).toContain("> TASK: plant the oak. lorem")
    // 15 % of 1000 tokens: the long message is cut in its middle.
    expect(state).toContain("[middle cut: ")
    const { verbatim } = rig.kernel.api.summaries.get(chat)!
    expect(Buffer.byteLength(verbatim.map(({ text }) => text).join("")) / 4.2).toBeLessThanOrEqual(
      150,
    )
  })

  test("CTX-13 TURN-037 CTX-12: the handover is asked as one short question, without tools, cache or thought", async () => {
    rig = await foldRig({ config: { llm: { summary_model: "other", prompt_cache: "1h" } } })
    const chat = rig.kernel.newChat()
    await fill(chat)
    const [question] = rig.summed()
    expect(question).toMatchObject({ model: "other", tools: [], effort: "off" })
    expect(question!.cacheTtl).toBeUndefined()
    expect(question!.sessionKey).toBeUndefined()
    expect(question!.system).toHaveLength(1)
    const { text } = question!.system[0]!
    for (const section of ["Task", "Constraints and preferences", "Done", "Next", "Facts needed"]) {
      expect(text).toContain(`## ${section}`)
    }
    expect(text).toContain("each with its reason")
    expect(text).toMatchSnapshot()
    expect(spokenIn(question)).toContain("> TASK: plant the oak.")
    const spend = await rig.kernel.api.spend.ofChat(chat, { tokens: 0, prefix_tokens: null })
    expect(spend.by_source.map(({ source }) => source)).toContain("compaction")
  })

  test("the next fold merges the handover before it, and keeps the task while there is room", async () => {
    let folds = 0
    rig = await foldRig({
      context: { compact_verbatim_percent: 40 },
      handover: () => ({ say: `HANDOVER ${++folds}` }),
    })
    const { kernel } = rig
    const chat = kernel.newChat()
    await kernel.turn(chat, "TASK: plant the oak.")
    await kernel.turn(chat, wordy("go on", 600))
    await kernel.turn(chat, plan([{ say: wordy("Worked.", 1100) }], "more"))
    expect(folds).toBe(2)
    expect(spokenIn(rig.summed()[1])).toContain("The handover of the shift before:\n\nHANDOVER 1")
    await kernel.turn(chat, "next")
    const state = stateOf(rig.asked().at(-1))
    expect(state).toContain("> HANDOVER 2")
    expect(state).not.toContain("> HANDOVER 1")
  })

  test("a summary as long as what it sums up is not taken, and is not paid for again until there is more", async () => {
    rig = await foldRig({ handover: () => ({ say: wordy("SUM", 2000) }) })
    const { kernel } = rig
    const chat = kernel.newChat()
    const full = { say: "yes", usage: { prompt_tokens: 9000 } }
    await kernel.turn(chat, plan([full], wordy("TASK", 400)))
    expect(kernel.api.summaries.get(chat)).toBeUndefined()
    const paid = rig.summed().length
    expect(paid).toBeGreaterThan(0)
    await kernel.turn(chat, plan([full], "more"))
    expect(rig.summed()).toHaveLength(paid)
    await kernel.turn(chat, plan([full], wordy("much more", 100)))
    expect(rig.summed().length).toBeGreaterThan(paid)
    expect(stored(kernel, chat).filter(isMark)).toHaveLength(0)
  })

  test("TURN-036: a model that fails to sum up costs the turn nothing, and the history stays whole", async () => {
    const { log, lines } = recordedLog()
    rig = await foldRig({ log, handover: () => ({ fail: "fatal" }) })
    const { kernel } = rig
    const chat = kernel.newChat()
    const events = await fill(chat)
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "done" })
    expect(lines.join("\n")).toContain("history could not be folded")
    await kernel.turn(chat, "next")
    expect(spokenIn(rig.asked().at(-1))).toContain("TASK: plant the oak.")
  })

  test("TURN-036: a fold that cannot be stored is logged, and the turn has ended well all the same", async () => {
    const { log, lines } = recordedLog()
    rig = await foldRig({ log })
    const { kernel } = rig
    using db = new Database(join(kernel.folder, "eva.db"))
    db.run(`CREATE TRIGGER full_disk BEFORE UPDATE OF summary ON chats
      WHEN new.summary IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
    const chat = kernel.newChat()
    const events = await fill(chat)
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "done" })
    expect(lines.join("\n")).toContain("the disk is full")
    await kernel.turn(chat, "next")
    expect(spokenIn(rig.asked().at(-1))).toContain("TASK: plant the oak.")
  })

  test("material longer than the model's window is summed up in stretches, each merged with the one before", async () => {
    let stretches = 0
    rig = await foldRig({
      config: {
        llm: {
          models: [{ name: "mock" }, { name: "other", context_window: 4000 }],
          summary_model: "other",
          model: { general: "mock" },
        },
      },
      context: { compact_after_tokens: 8000, compact_keep_tokens: 300 },
      handover: () => ({ say: `STRETCH ${++stretches}` }),
    })
    const { kernel } = rig
    const chat = kernel.newChat()
    for (let at = 0; at < 9; at++) await kernel.turn(chat, wordy(`part ${at}`, 500))
    expect(stretches).toBeGreaterThan(1)
    for (const [at, question] of rig.summed().entries()) {
      expect(kernel.api.models.resolve("other")).toBeDefined()
      if (at > 0) expect(spokenIn(question)).toContain(`STRETCH ${at}`)
      expect(Buffer.byteLength(spokenIn(question)) / 4).toBeLessThan(4000)
    }
    expect(kernel.api.summaries.get(chat)!.text).toBe(`STRETCH ${stretches}`)
  })

  test("CTX-09 CFG-044: the threshold measures the conversation; with `total` persona, rules and tools count, too", async () => {
    rig = await foldRig({ context: { compact_after_tokens: 4000 } })
    await rig.kernel.turn(rig.kernel.newChat(), wordy("TASK", 700))
    expect(rig.summed()).toHaveLength(0)
    await rig.kernel.dispose()
    rig = await foldRig({ context: { compact_after_tokens: 4000, compact_scope: "total" } })
    await rig.kernel.turn(rig.kernel.newChat(), wordy("TASK", 700))
    expect(rig.summed()).toHaveLength(1)
  })
})

describe("profiles", () => {
  const grades = {
    context: {
      compact_after_tokens: 6000,
      telegram: { compact_after_tokens: 3000, compact_keep_tokens: 300 },
      cron: { compact_after_tokens: 1200, compact_keep_tokens: 300 },
      aggressive_folders: ["noisy", "feed:*"],
    },
  }
  /** How often a chat is folded by four turns of 800 tokens each. */
  async function folds(chat: string): Promise<number> {
    const before = rig.summed().length
    for (let at = 0; at < 4; at++) {
      await rig.kernel.turn(chat, plan([{ say: "yes" }], wordy(`part ${at}`, 800)))
    }
    return rig.summed().length - before
  }

  test("CTX-04 CTX-05 TURN-045 CTX-06 CFG-042 CFG-043 CFG-046: what the chat is decides how soon it is folded", async () => {
    rig = await foldRig(grades)
    const { chats } = rig.kernel.api
    expect(await folds(chats.create({}).id)).toBe(0)
    const surface = await folds(chats.create({ surface: "telegram" }).id)
    expect(surface).toBe(1)
    expect(await folds(chats.create({ folder: "noisy" }).id)).toBe(surface)
    expect(await folds(chats.create({ folder: "feed:news" }).id)).toBe(surface)
    expect(await folds(chats.create({ folder: "telegram" }).id)).toBe(0)
    const low = chats.create({}).id
    chats.setCompactProfile(low, "low")
    expect(await folds(low)).toBeGreaterThan(surface)
  })

  test("CTX-07 THIST-8: a profile is pinned by the tool, and `auto` takes it off", async () => {
    rig = await foldRig(grades)
    const { kernel } = rig
    const chat = kernel.api.chats.create({ surface: "telegram" }).id
    const set = (profile: string) =>
      kernel.turn(chat, plan([{ call: "chat_compact_profile", input: { profile } }, { say: "ok" }]))
    await set("high")
    expect(kernel.api.chats.get(chat).compact_profile).toBe("high")
    expect(await folds(chat)).toBe(0)
    const events = await set("huge")
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true })
    await set("auto")
    expect(kernel.api.chats.get(chat).compact_profile).toBeNull()
  })

  test("CFG-047 CTX-06: in a folder that pins it the first message stays in sight", async () => {
    rig = await foldRig({ context: { pin_first_message_folders: ["work"] } })
    const { kernel } = rig
    const chat = kernel.api.chats.create({ folder: "work" }).id
    await kernel.turn(chat, plan([{ say: "yes" }], `FIRST ${"words ".repeat(50)}`))
    await kernel.turn(chat, plan([{ say: "yes" }], wordy("SECOND", 900)))
    await kernel.turn(chat, "next")
    expect(rig.summed()).toHaveLength(1)
    const { messages } = rig.asked().at(-1)!
    expect(JSON.stringify(messages[0])).toContain("FIRST words")
    expect(JSON.stringify(messages[0])).toContain("[kernel] What was said between is folded")
    expect(spokenIn(rig.asked().at(-1))).not.toContain("SECOND")
  })
})

test("CTX-33 TURN-041: where the newest folded message is gone the whole history is shown, not a hole", async () => {
  rig = await foldRig()
  const { kernel } = rig
  const chat = kernel.newChat()
  await fill(chat)
  await kernel.turn(chat, "second")
  const { upto } = kernel.api.summaries.get(chat)!
  const { Database } = await import("bun:sqlite")
  const db = new Database(kernel.api.config.db.path)
  db.run("DELETE FROM messages WHERE id = ?", [upto])
  db.close()
  expect(kernel.api.summaries.get(chat)).toBeUndefined()
  await kernel.turn(chat, "third")
  expect(spokenIn(rig.asked().at(-1))).toContain("second")
  expect(texts(await kernel.turn(chat, "fourth"))).toBe("fourth")
})
