/** Making, setting up, listing and binning chats. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { ChatsSection } from "../../src/config/sections/chats.ts"
import { createRig, drafts, type Rig, refusal, text } from "./rig.ts"

let rig: Rig
beforeEach(() => {
  rig = createRig()
})
afterEach(() => rig.close())

const titles = (query: Parameters<Rig["chats"]["list"]>[0] = {}) =>
  rig.chats.list(query).map((chat) => chat.title)

/** One chat of each sort; made in this order, so lists show them in reverse. */
function everySort() {
  const make = (title: string, body: object) => {
    rig.clock.advance(1000)
    return rig.chats.create({ title, ...body })
  }
  make("inbox", {})
  make("garden", { folder: "garden" })
  make("video", { folder: "youtube" })
  make("coding", { folder: "code", project: "eva" })
  make("coding old", { folder: "code:old", project: "old" })
  make("group", { surface: "telegram" })
  make("game", { surface: "mtl", folder: "cron" })
  make("agent", { folder: "agents" })
}

describe("a chat", () => {
  test("CHAT-01: is made in the inbox, without a surface or a project, and says so", () => {
    const chat = rig.chats.create({})
    expect(chat).toEqual({
      id: chat.id,
      title: "",
      folder: "default",
      surface: null,
      project: null,
      model: null,
      effort: null,
      toolset: null,
      compact_profile: null,
      workdir: null,
      workdir_on: "client",
      ephemeral: false,
      needs_attention: false,
      attention_reason: null,
      forked_from: null,
      forked_at_message: null,
      running: false,
      created_at: "2026-01-05T10:00:00.000Z",
      updated_at: "2026-01-05T10:00:00.000Z",
      deleted_at: null,
      next_sleep_at: null,
    })
    expect(rig.chats.get(chat.id)).toEqual(chat)
    expect(rig.events).toEqual([{ chatId: chat.id, event: { type: "chat_created" } }])
  })

  test("CHAT-09: takes surface, project, workdir and its machine when it is made", () => {
    const chat = rig.chats.create({
      ...{ title: "Кот", surface: "telegram", project: "eva", folder: "friends" },
      ...{ workdir: "/home/me/eva", workdir_on: "server", model: "opus", effort: "high" },
    })
    expect(rig.chats.get(chat.id)).toMatchObject({
      ...{ title: "Кот", surface: "telegram", project: "eva", folder: "friends" },
      ...{ workdir: "/home/me/eva", workdir_on: "server", model: "opus", effort: "high" },
    })
    expect(rig.chats.create({ workdir: "C:\\code" }).workdir_on).toBe("client")
  })

  test("refuses what it cannot be, and stores nothing", () => {
    const refused = (body: Parameters<Rig["chats"]["create"]>[0]) =>
      refusal(() => rig.chats.create(body))
    expect(refused({ workdir: "/a", workdir_on: "phone" })).toEqual({
      ...{ code: "invalid", path: "workdir_on" },
      message: "workdir_on must be client or server, not phone",
    })
    for (const workdir of ["code", "./code", "~/code", "C:code", "\\code", "/a\nb"]) {
      expect(refused({ workdir })).toMatchObject({ code: "invalid", path: "workdir" })
    }
    expect(refused({ surface: "any" })).toMatchObject({ code: "invalid", path: "surface" })
    expect(refused({ folder: "code*" })).toMatchObject({ code: "invalid", path: "folder" })
    expect(refused({ model: "opsu" })).toEqual({
      ...{ code: "invalid", path: "model" },
      message: "no model named opsu; did you mean opus?",
    })
    expect(titles()).toEqual([])
    expect(rig.events).toEqual([])
  })

  test("an unknown id is not_found everywhere", async () => {
    const { chats } = rig
    const calls = [
      () => chats.get("no"),
      () => chats.patch("no", { title: "x" }),
      () => chats.setFolder("no", null),
      () => chats.restore("no"),
      () => chats.fork("no", { before_message: "x" }),
      () => chats.contextAnchor("no"),
      () => chats.setContextAnchor("no", 1, "m"),
    ]
    for (const call of calls) expect(refusal(call)).toMatchObject({ code: "not_found" })
    for (const gone of [chats.remove("no"), chats.clear("no"), chats.rewind("no", "m")]) {
      expect(await gone.catch((error: unknown) => error)).toMatchObject({ code: "not_found" })
    }
  })

  test("CHAT-29: model, effort, toolset, workdir and folder are set, and null clears them", () => {
    const { id } = rig.chats.create({})
    const { chats } = rig
    expect(chats.setModel(id, "opus").model).toBe("opus")
    expect(chats.setEffort(id, "low").effort).toBe("low")
    expect(chats.setToolset(id, "coding").toolset).toBe("coding")
    expect(chats.setFolder(id, " garden ").folder).toBe("garden")
    expect(chats.setWorkdir(id, { workdir: "/srv", workdir_on: "server" })).toMatchObject({
      ...{ workdir: "/srv", workdir_on: "server", model: "opus", effort: "low" },
      ...{ toolset: "coding", folder: "garden" },
    })
    expect(refusal(() => chats.setModel(id, "gpt"))).toMatchObject({ path: "model" })
    expect(refusal(() => chats.setToolset(id, "none"))).toMatchObject({ path: "toolset" })
    expect(refusal(() => chats.setWorkdir(id, { workdir: "x" }))).toMatchObject({ path: "workdir" })
    chats.setModel(id, null)
    chats.setEffort(id, null)
    chats.setToolset(id, null)
    chats.setFolder(id, null)
    expect(chats.setWorkdir(id, { workdir: null })).toMatchObject({
      ...{ workdir: null, workdir_on: "client", model: null, effort: null },
      ...{ toolset: null, folder: "default" },
    })
    expect(rig.events.slice(1).every(({ event }) => event.type === "chat_changed")).toBe(true)
    expect(rig.events).toHaveLength(11)
  })

  test("CHAT-08: null or an empty name moves a chat to the inbox", () => {
    const { id } = rig.chats.create({ folder: "garden" })
    expect(rig.chats.setFolder(id, "").folder).toBe("default")
    rig.chats.setFolder(id, "work")
    expect(rig.chats.get(id).folder).toBe("work")
    expect(rig.chats.setFolder(id, null).folder).toBe("default")
  })

  test("a title is renamed and attention called and cleared with its reason", () => {
    const { id } = rig.chats.create({ title: "old" })
    rig.chats.patch(id, { needs_attention: true, attention_reason: "the build fails" })
    expect(rig.chats.patch(id, { title: " Новый\0 ", project: "eva" })).toMatchObject({
      ...{ title: "Новый", project: "eva", needs_attention: true },
      attention_reason: "the build fails",
    })
    expect(rig.chats.patch(id, { needs_attention: false, project: null })).toMatchObject({
      ...{ title: "Новый", project: null, needs_attention: false, attention_reason: null },
    })
  })

  test("CTX-35: the count of the context is kept beside the message it was counted at", () => {
    const { id } = rig.chats.create({})
    expect(rig.chats.contextAnchor(id)).toBeUndefined()
    rig.chats.setContextAnchor(id, 1234, "m1")
    expect(rig.chats.contextAnchor(id)).toEqual({ tokens: 1234, messageId: "m1" })
    expect(rig.rows("chats", id)[0]).toMatchObject({ ctx_tokens: 1234, ctx_upto: "m1" })
  })
})

describe("lists", () => {
  test("CHAT-02: the common list hides chats with a surface, quiet shelves and agents", () => {
    everySort()
    expect(titles()).toEqual(["coding old", "garden", "inbox"])
  })

  test("CHAT-03: a surface shows its chats, quiet or not, and any shows all but agents", () => {
    everySort()
    expect(titles({ surface: "telegram" })).toEqual(["group"])
    expect(titles({ surface: "mtl" })).toEqual(["game"])
    expect(titles({ surface: "any" })).toEqual([
      ...["game", "group", "coding old", "coding", "video", "garden", "inbox"],
    ])
  })

  test("CHAT-04: a named shelf comes whole, quiet or agents; a trailing star is a prefix", () => {
    everySort()
    expect(titles({ folder: "youtube" })).toEqual(["video"])
    expect(titles({ folder: "agents" })).toEqual(["agent"])
    expect(titles({ folder: "code*" })).toEqual(["coding old", "coding"])
    expect(titles({ folder: "code" })).toEqual(["coding"])
    // A shelf does not reveal chats of surfaces.
    expect(titles({ folder: "cron" })).toEqual([])
    expect(titles({ folder: "cron", surface: "mtl" })).toEqual(["game"])
    expect(titles({ folder: "*" })).toEqual([
      ...["agent", "coding old", "coding", "video", "garden", "inbox"],
    ])
  })

  test("CHAT-05: a project matches exactly, combines, and overrides quietness", () => {
    everySort()
    expect(titles({ project: "eva" })).toEqual(["coding"])
    expect(titles({ project: "ev" })).toEqual([])
    expect(titles({ project: "eva", folder: "code:*" })).toEqual([])
    expect(titles({ project: "old", folder: "code:*" })).toEqual(["coding old"])
    expect(titles({ project: "eva", surface: "telegram" })).toEqual([])
  })

  test("CHAT-06: youtube, cron and code are quiet; a name is exact, a trailing star makes a prefix", () => {
    expect(ChatsSection.properties.quiet_folders.default).toEqual(["youtube", "cron", "code"])
    rig.close()
    rig = createRig({ quietFolders: ["co*", "you"] })
    everySort()
    expect(titles()).toEqual(["video", "garden", "inbox"])
  })

  test("CHAT-07: the shelves are counted, quiet ones too, of ordinary chats or of a surface", () => {
    everySort()
    expect(rig.chats.folders()).toEqual([
      { folder: "default", chats: 1, quiet: false },
      { folder: "code", chats: 1, quiet: true },
      { folder: "code:old", chats: 1, quiet: false },
      { folder: "garden", chats: 1, quiet: false },
      { folder: "youtube", chats: 1, quiet: true },
    ])
    expect(rig.chats.folders({ surface: "mtl" })).toEqual([
      { folder: "cron", chats: 1, quiet: true },
    ])
    expect(rig.chats.folders({ surface: "any" })[0]).toEqual({
      ...{ folder: "default", chats: 2, quiet: false },
    })
  })

  test("the chat with the newest message comes first, and pages end where the cursor stands", () => {
    const [a, b, c] = ["a", "b", "c"].map((title) => {
      rig.clock.advance(1000)
      return rig.chats.create({ title })
    })
    rig.clock.advance(1000)
    rig.messages.append([drafts(a!.id).user(text("hello"))])
    expect(titles()).toEqual(["a", "c", "b"])
    expect(rig.chats.get(a!.id).updated_at).toBe("2026-01-05T10:00:04.000Z")
    expect(titles({ limit: 2 })).toEqual(["a", "c"])
    expect(titles({ limit: 2, before: c!.id })).toEqual(["b"])
    expect(titles({ before: b!.id })).toEqual([])
    const bad = [{ before: "no" }, { limit: 0 }, { limit: 501 }, { deleted: "yes" }]
    for (const query of bad) {
      expect(refusal(() => rig.chats.list(query))).toMatchObject({
        ...{ code: "invalid", path: Object.keys(query)[0] },
      })
    }
  })

  test("chats of one instant are paged by id, and a page is 50 by default", () => {
    const ids = Array.from({ length: 120 }, () => rig.chats.create({}).id)
    const seen: string[] = []
    for (;;) {
      const page = rig.chats.list(seen.length > 0 ? { before: seen.at(-1)! } : {})
      if (page.length === 0) break
      expect(page.length).toBe(seen.length < 100 ? 50 : 20)
      seen.push(...page.map((chat) => chat.id))
    }
    expect(seen).toEqual(ids.reverse())
  })

  test("a part of a title is found whatever its case, Cyrillic too, and signs are plain text", () => {
    for (const title of ["Ремонт КУХНИ", "Kitchen 100%", "kitchen_x"]) rig.chats.create({ title })
    expect(titles({ title: "кухн" })).toEqual(["Ремонт КУХНИ"])
    expect(titles({ title: "KITCHEN" })).toEqual(["kitchen_x", "Kitchen 100%"])
    expect(titles({ title: "0%" })).toEqual(["Kitchen 100%"])
    expect(titles({ title: "n_" })).toEqual(["kitchen_x"])
  })
})

describe("the bin", () => {
  test("CHAT-12: a deleted chat leaves the lists, its turns stop, and it comes back whole", async () => {
    const { id } = rig.chats.create({ title: "x" })
    rig.messages.append([drafts(id).user(text("hello"))])
    rig.running.add(id)
    await rig.chats.remove(id)
    expect(rig.stopped).toEqual([id])
    expect(titles()).toEqual([])
    expect(rig.chats.folders()).toEqual([])
    expect(titles({ deleted: "true" })).toEqual(["x"])
    expect(rig.chats.get(id).deleted_at).toBe("2026-01-05T10:00:00.000Z")
    await rig.chats.remove(id)
    expect(rig.chats.restore(id).deleted_at).toBeNull()
    rig.chats.restore(id)
    expect(titles()).toEqual(["x"])
    expect(titles({ deleted: "true" })).toEqual([])
    expect(rig.messages.page(id, {})).toHaveLength(1)
    expect(rig.events.map(({ event }) => event.type)).toEqual([
      ...["chat_created", "chat_deleted", "chat_restored"],
    ] as never)
  })

  test("a chat is in the bin on disk before its turns are asked to stop", async () => {
    rig.close()
    let binned: unknown
    rig = createRig({
      stopTurns: async (chatId) => {
        binned = rig.chats.get(chatId).deleted_at
      },
    })
    const { id } = rig.chats.create({})
    await rig.chats.remove(id)
    expect(binned).toBe("2026-01-05T10:00:00.000Z")
  })
})
