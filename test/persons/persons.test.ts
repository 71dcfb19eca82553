import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { createMessages } from "../../src/chats/messages.ts"
import { KernelError } from "../../src/lib/error.ts"
import { uuidV7 } from "../../src/lib/id.ts"
import { createPersons, type PersonsOptions } from "../../src/persons/persons.ts"
import type { PersonEvent } from "../../src/schema/person.ts"
import { openTempStore } from "../support/temp-store.ts"

let temp: ReturnType<typeof openTempStore>
let events: PersonEvent[]

beforeEach(() => {
  temp = openTempStore()
  events = []
})
afterEach(() => temp.close())

const open = (more: Partial<PersonsOptions> = {}) =>
  createPersons({
    store: temp.store,
    clock: temp.clock,
    masterAliases: ["telegram:42"],
    emit: (event) => events.push(event),
    ...more,
  })

const thrown = (work: () => unknown): KernelError => {
  try {
    work()
  } catch (error) {
    if (error instanceof KernelError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}

describe("resolving", () => {
  test("PERS-02 PERS-06: an external identity becomes a person once, and that is told once", () => {
    const persons = open()
    const anna = persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })
    expect(anna).toEqual({
      id: "p1",
      name: "Anna",
      master: false,
      aliases: [{ source: "telegram", ext_id: "7" }],
      created_at: "2026-01-05T10:00:00.000Z",
    })
    temp.clock.advance(1000)
    expect(persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })).toEqual(anna)
    expect(persons.resolve({ source: "Telegram", ext_id: "7" })).toEqual(anna)
    expect(persons.resolve({ source: "matrix", ext_id: "7" }).id).toBe("p2")
    expect(events.map((event) => [event.type, event.person.id])).toEqual([
      ["person.created", "p1"],
      ["person.created", "p2"],
    ])
    expect(persons.speakerOf({ sender: anna.id }).sender).toBe("p1")
  })

  test("a person is there when the event is told", () => {
    const seen: unknown[] = []
    const persons = open({ emit: ({ person }) => seen.push(persons.get(person.id)?.name) })
    persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })
    expect(seen).toEqual(["Anna"])
  })

  test("a new name replaces the old one; without a name the identity stands in", () => {
    const persons = open()
    expect(persons.resolve({ source: "matrix", ext_id: "@a:b.org" }).name).toBe("matrix:@a:b.org")
    expect(persons.resolve({ source: "matrix", ext_id: "@a:b.org", name: "Аня" }).name).toBe("Аня")
    expect(persons.resolve({ source: "matrix", ext_id: "@a:b.org", name: "  " }).name).toBe("Аня")
    expect(persons.get("p1")?.name).toBe("Аня")
  })

  test("the master's own name for a person outlasts what the surface says", () => {
    const persons = open()
    persons.resolve({ source: "telegram", ext_id: "7", name: "xx_anna_xx" })
    expect(persons.rename("p1", "Sister").name).toBe("Sister")
    const again = persons.resolve({ source: "telegram", ext_id: "7", name: "xx_anna_xx" })
    expect(again.name).toBe("Sister")
  })

  test("a name is one line without control and direction marks, and never too long", () => {
    const persons = open()
    const name = (name: string) => persons.resolve({ source: "irc", ext_id: "x", name }).name
    expect(name("An\nna\u202e [p1]\u0000")).toBe("An na [p1]")
    expect(name("👩‍👩‍👧 Ж\u2028")).toBe("👩‍👩‍👧 Ж")
    expect(name("ж".repeat(500))).toBe("ж".repeat(100))
    expect(name(`${"a".repeat(99)}😀`)).toBe("a".repeat(99))
  })

  test("nothing is written while nothing changes", () => {
    const persons = open()
    persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })
    const version = () => temp.store.db.query("PRAGMA data_version; ").get()
    const changes = () => temp.store.db.query("SELECT total_changes() AS n").get()
    const before = [version(), changes()]
    persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })
    expect([version(), changes()]).toEqual(before)
  })

  test("an identity that cannot be one is refused with the right form", () => {
    const persons = open()
    const refused = (source: string, ext_id: string) => {
      const { code, path } = thrown(() => persons.resolve({ source, ext_id }))
      return [code, path]
    }
    expect(refused("tele gram", "7")).toEqual(["invalid", "source"])
    expect(refused("a:b", "7")).toEqual(["invalid", "source"])
    expect(refused("telegram", " \u0000 ")).toEqual(["invalid", "ext_id"])
    expect(persons.list()).toEqual([])
  })
})

describe("the master", () => {
  test("PERS-03: a person listed in master.aliases is the master, whatever the case; others are guests", () => {
    const persons = open({ masterAliases: ["telegram:42", "Matrix:@Me:Home.org"] })
    const owner = persons.resolve({ source: "telegram", ext_id: "42" })
    const matrix = persons.resolve({ source: "MATRIX", ext_id: "@me:home.ORG" })
    const other = persons.resolve({ source: "telegram", ext_id: "420" })
    const elsewhere = persons.resolve({ source: "irc", ext_id: "42" })
    expect([owner, matrix, other, elsewhere].map(({ master }) => master)).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(persons.isMaster(owner.id)).toBe(true)
    expect(persons.speakerOf({ sender: owner.id })).toEqual({
      master: true,
      trusted: false,
      privileged: true,
      sender: "p1",
    })
    expect(persons.speakerOf({ sender: other.id }).master).toBe(false)
  })

  test("PERS-07: no name makes anybody the master, only the surface's id of a person does", () => {
    const persons = open({ masterAliases: ["telegram:42"] })
    persons.resolve({ source: "telegram", ext_id: "42", name: "Master" })
    const fake = persons.resolve({ source: "telegram", ext_id: "43", name: "telegram:42" })
    persons.resolve({ source: "telegram", ext_id: "43", name: "Master (p1)" })
    expect(persons.isMaster(fake.id)).toBe(false)
    expect(persons.speakerOf({ sender: fake.id })).toEqual({
      master: false,
      trusted: false,
      privileged: false,
      sender: fake.id,
    })
  })

  test("a bare alias is refused at the start: on another surface anybody could take that name", () => {
    const { code, path, message } = thrown(() => open({ masterAliases: ["telegram:1", "anna"] }))
    expect([code, path]).toEqual(["config", "master.aliases[1]"])
    expect(message).toContain("telegram:123456789")
  })

  test("an unknown sender is named, with the right form", () => {
    const persons = open()
    for (const sender of ["p99", "anna", "7", "p0", "p1; DROP", "p9007199254740993"]) {
      const error = thrown(() => persons.speakerOf({ sender }))
      expect([error.code, error.path]).toEqual(["invalid", "sender"])
      expect(error.message).toContain("/v1/persons/resolve")
    }
    expect(thrown(() => persons.isMaster("p99")).path).toBe("sender")
  })
})

describe("merging", () => {
  const chat = "0198c0de-0000-7000-8000-000000000001"
  /** Messages of these senders, as the turn room stores them. */
  const say = (senders: (string | undefined)[]) => {
    const { store, clock } = temp
    store.db.query("INSERT INTO chats (id, created_at, updated_at) VALUES (?, 1, 1)").run(chat)
    const messages = createMessages({ store, clock, newId: uuidV7(clock) })
    const drafts = senders.map((sender) => ({
      ...{ chat_id: chat, turn_id: null, role: "user" as const, master: false, ext_id: "5" },
      blocks: [{ type: "text" as const, text: `I am ${sender}` }],
      ...(sender && { sender }),
    }))
    store.write(() => messages.append(drafts))
    return messages
  }

  test("PERS-05: the older id stays and takes over aliases, messages and other references", () => {
    const moved: string[] = []
    const persons = open({ moveReferences: [(from, into) => moved.push(`${from}>${into}`)] })
    const old = persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })
    const other = persons.resolve({ source: "irc", ext_id: "bob", name: "Bob" })
    const fresh = persons.resolve({ source: "matrix", ext_id: "@anna:x", name: "Anna B." })
    const messages = say([fresh.id, other.id, undefined])

    // Whichever way it is asked for, p1 is older; the name is that of the person merged into.
    expect(persons.merge(old.id, fresh.id)).toEqual({
      ...old,
      name: "Anna B.",
      aliases: [
        { source: "matrix", ext_id: "@anna:x" },
        { source: "telegram", ext_id: "7" },
      ],
    })
    expect(moved).toEqual(["p3>p1"])
    expect(persons.list().map(({ id }) => id)).toEqual(["p1", "p2"])
    expect(messages.forPrompt(chat).map(({ sender, ext_id }) => [sender, ext_id])).toEqual([
      ["p1", "5"],
      ["p2", "5"],
      [undefined, "5"],
    ])
    expect(persons.resolve({ source: "matrix", ext_id: "@anna:x" }).id).toBe("p1")
  })

  test("an id that a surface remembers keeps its meaning, also after a second merge", () => {
    const persons = open()
    const ids = ["a", "b", "c"].map((ext_id) => persons.resolve({ source: "irc", ext_id }).id)
    persons.merge(ids[2]!, ids[1]!)
    persons.merge(ids[1]!, ids[0]!)
    expect(ids.map((id) => persons.get(id)?.id)).toEqual(["p1", "p1", "p1"])
    expect(persons.speakerOf({ sender: ids[2]! }).sender).toBe("p1")
    // A gone id is never given to somebody else.
    expect(persons.resolve({ source: "irc", ext_id: "d" }).id).toBe("p4")
  })

  test("all or nothing: a reference that cannot move undoes the merge", () => {
    const persons = open({
      moveReferences: [
        () => {
          throw new Error("no")
        },
      ],
    })
    const a = persons.resolve({ source: "irc", ext_id: "a" })
    const b = persons.resolve({ source: "irc", ext_id: "b" })
    expect(() => persons.merge(b.id, a.id)).toThrow("no")
    expect(persons.list()).toEqual([a, b])
  })

  test("no merge makes a stranger the master: only the settings do", () => {
    const persons = open()
    const owner = persons.resolve({ source: "telegram", ext_id: "42" })
    const stranger = persons.resolve({ source: "irc", ext_id: "me" })
    for (const [from, into] of [
      [owner.id, stranger.id],
      [stranger.id, owner.id],
    ] as const) {
      const error = thrown(() => persons.merge(from, into))
      expect(error.code).toBe("invalid")
      expect(error.message).toContain("add irc:me to master.aliases")
    }
    const listed = open({ masterAliases: ["telegram:42", "irc:me"] })
    expect(listed.merge(stranger.id, owner.id).aliases).toHaveLength(2)
  })

  test("an unknown person, or the same one twice, is refused", () => {
    const persons = open()
    const { id } = persons.resolve({ source: "irc", ext_id: "a" })
    expect(thrown(() => persons.merge(id, "p9")).code).toBe("not_found")
    expect(thrown(() => persons.merge(id, id)).code).toBe("invalid")
    expect(thrown(() => persons.rename("p9", "x")).code).toBe("not_found")
    expect(thrown(() => persons.rename(id, " \n ")).path).toBe("name")
  })

  test("the senders of messages are found by an index", () => {
    const plan = temp.store.db
      .query<{ detail: string }, []>(
        `EXPLAIN QUERY PLAN UPDATE messages SET extra = json_set(extra, '$.sender', 'p1')
         WHERE json_extract(extra, '$.sender') = 'p2'`,
      )
      .all()
    expect(plan[0]?.detail).toContain("messages_by_sender")
  })
})

test("persons survive a restart of the kernel", () => {
  open().resolve({ source: "telegram", ext_id: "42", name: "Me" })
  expect(open({ masterAliases: [] }).list()).toMatchObject([
    { id: "p1", name: "Me", master: false },
  ])
  expect(open().list()).toMatchObject([{ id: "p1", name: "Me", master: true }])
})
