/** The bus: numbers, resuming without gap or double, bounds, and listeners that misbehave. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type BusOptions, createBus, type Emission } from "../../src/events/bus.ts"
import { manualClock } from "../../src/lib/clock.ts"
import { parseJson } from "../../src/lib/json.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { TurnEvent } from "../../src/schema/event.ts"
import { recordedLog } from "../support/kernel.ts"

const bus = (options: Partial<BusOptions> = {}) =>
  createBus({ clock: manualClock(1_000_000), log: silentLog, ...options })
const say = (text: string): TurnEvent => ({ type: "text_delta", text })
const textsOf = (emissions: readonly Emission[]): string =>
  emissions.map((emission) => (parseJson(emission.json) as { text: string }).text).join("")
/** A listener that keeps what it hears. */
const ear = () => {
  const heard: Emission[] = []
  return { heard, sink: (emission: Emission) => void heard.push(emission) }
}

describe("publishing", () => {
  test("an event leaves as one JSON object with its number, chat and turn", () => {
    const { publish, subscribe, lastSeq } = bus()
    const { heard, sink } = ear()
    subscribe({}, sink)
    publish("c1", say("hi"), "t1")
    publish("c1", { type: "chat_changed" })
    const seq = lastSeq()
    expect(heard).toEqual([
      {
        ...{ seq: seq - 1, chatId: "c1", turnId: "t1", type: "text_delta" },
        json: `{"type":"text_delta","text":"hi","seq":${seq - 1},"chat_id":"c1","turn_id":"t1"}`,
      },
      {
        ...{ seq, chatId: "c1", turnId: undefined, type: "chat_changed" },
        json: `{"type":"chat_changed","seq":${seq},"chat_id":"c1"}`,
      },
    ])
  })

  test("each listener gets its own chats, in order", () => {
    const { publish, subscribe } = bus()
    const [all, one, two] = [ear(), ear(), ear()]
    subscribe({}, all.sink)
    subscribe({ chats: ["c1"] }, one.sink)
    subscribe({ chats: ["c1", "c2", "c1"] }, two.sink)
    for (const [chat, text] of ["c1a", "c2b", "c3c", "c1d"].map((one) => [
      one.slice(0, 2),
      one[2],
    ])) {
      publish(chat!, say(text!))
    }
    expect(textsOf(all.heard)).toBe("abcd")
    expect(textsOf(one.heard)).toBe("ad")
    expect(textsOf(two.heard)).toBe("abd")
  })

  test("numbers grow by one, and after a restart they go on above the old ones", () => {
    const clock = manualClock(1_000_000)
    const first = bus({ clock })
    const before = first.lastSeq()
    for (let n = 0; n < 500; n++) first.publish("c", say("x"))
    expect(first.lastSeq()).toBe(before + 500)
    clock.advance(1)
    const second = bus({ clock })
    second.publish("c", say("y"))
    expect(second.lastSeq()).toBeGreaterThan(first.lastSeq())
    expect(Number.isSafeInteger(bus({ clock: manualClock(Date.UTC(2100, 0)) }).lastSeq())).toBe(
      true,
    )
  })

  test("two hundred listeners hear everything, and none is left when they go", () => {
    const { publish, subscribe, subscribers } = bus()
    const ears = Array.from({ length: 200 }, ear)
    const leave = ears.map(
      ({ sink }, index) => subscribe(index % 2 === 0 ? {} : { chats: ["c"] }, sink).unsubscribe,
    )
    for (let n = 0; n < 100; n++) publish("c", say("x"))
    expect(ears.every(({ heard }) => heard.length === 100)).toBe(true)
    expect(subscribers()).toBe(200)
    for (const one of leave) one()
    for (const one of leave) one()
    expect(subscribers()).toBe(0)
  })
})

describe("listeners", () => {
  test("one that leaves inside an event is not told again, and the others are", () => {
    const { publish, subscribe } = bus()
    const [first, second, third] = [ear(), ear(), ear()]
    const own = subscribe({}, (emission) => {
      first.sink(emission)
      own.unsubscribe()
      other.unsubscribe()
    })
    const other = subscribe({}, second.sink)
    subscribe({}, third.sink)
    publish("c", say("a"))
    publish("c", say("b"))
    expect([first, second, third].map(({ heard }) => textsOf(heard))).toEqual(["a", "", "ab"])
  })

  test("one that comes inside an event hears it once: as missed, or not at all", () => {
    const { publish, subscribe, lastSeq } = bus()
    const [resumed, fresh] = [ear(), ear()]
    const since = lastSeq()
    const host = subscribe({}, () => {
      host.unsubscribe()
      resumed.heard.push(...subscribe({ since }, resumed.sink).missed)
      subscribe({ chats: ["c"] }, fresh.sink)
    })
    publish("c", say("a"))
    publish("c", say("b"))
    expect(textsOf(resumed.heard)).toBe("ab")
    expect(textsOf(fresh.heard)).toBe("b")
  })

  test("what one publishes inside an event comes behind it for everybody", () => {
    const { publishAll, subscribe } = bus()
    const last = ear()
    subscribe({}, ({ json }) => {
      if (json.includes('"a"')) publishAll("c", [say("x"), say("y")])
    })
    subscribe({}, last.sink)
    publishAll("c", [say("a"), say("b")])
    expect(textsOf(last.heard)).toBe("abxy")
    const numbers = last.heard.map(({ seq }) => seq)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
  })

  test("one that throws stops neither the others nor the publisher, and is named in the log", () => {
    const { log, lines } = recordedLog()
    const { publish, subscribe } = bus({ log })
    const [before, after] = [ear(), ear()]
    subscribe({}, before.sink)
    subscribe({}, () => {
      throw new Error("a broken pipe")
    })
    subscribe({}, after.sink)
    publish("c", say("a"))
    publish("c", say("b"))
    expect([before, after].map(({ heard }) => textsOf(heard))).toEqual(["ab", "ab"])
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain("a broken pipe")
  })

  test("one function that listens twice hears twice and leaves one by one", () => {
    const { publish, subscribe } = bus()
    const { heard, sink } = ear()
    const first = subscribe({}, sink)
    subscribe({}, sink)
    publish("c", say("a"))
    first.unsubscribe()
    publish("c", say("b"))
    expect(textsOf(heard)).toBe("aab")
  })
})

describe("resuming", () => {
  test("gives what was missed and then what comes, without a gap or a double, wherever one stopped", () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), fc.boolean(), (before, after, narrow) => {
        const { publish, subscribe, lastSeq } = bus()
        const since = lastSeq() + before
        const filter = narrow ? { chats: ["c0"], since } : { since }
        for (let n = 0; n < 20; n++) publish(`c${n % 2}`, say(`${n} `))
        const { heard, sink } = ear()
        const { missed, reset } = subscribe(filter, sink)
        for (let n = 20; n < 20 + after; n++) publish(`c${n % 2}`, say(`${n} `))
        const wanted = Array.from({ length: 20 + after }, (_, n) => n).filter(
          (n) => n >= before && (!narrow || n % 2 === 0),
        )
        expect(reset).toBe(false)
        expect(textsOf([...missed, ...heard])).toBe(wanted.map((n) => `${n} `).join(""))
      }),
    )
  })

  test("without a position nothing counts as missed", () => {
    const { publish, subscribe } = bus()
    publish("c", say("a"))
    const { missed, reset } = subscribe({}, () => {})
    expect({ missed, reset }).toEqual({ missed: [], reset: false })
  })

  test("a position of another life or of the future is answered by reset, and the tail still comes", () => {
    const { publish, subscribe, lastSeq } = bus()
    const first = lastSeq()
    const at = (since: number) => {
      const { heard, sink } = ear()
      const { missed, reset } = subscribe({ since }, sink)
      return { missed, reset, heard }
    }
    expect(at(first).reset).toBe(false)
    expect(at(first - 1).reset).toBe(true)
    expect(at(first + 1).reset).toBe(true)
    publish("c", say("a"))
    expect(textsOf(at(first).missed)).toBe("a")
    const [old, future] = [at(first - 1), at(lastSeq() + 1)]
    expect([old.reset, future.reset, old.missed, future.missed]).toEqual([true, true, [], []])
    publish("c", say("b"))
    expect([textsOf(old.heard), textsOf(future.heard)]).toEqual(["b", "b"])
  })

  test("the log holds so many events and no more", () => {
    const { publish, subscribe, lastSeq } = bus({ maxEvents: 10 })
    for (let n = 0; n < 1000; n++) {
      publish("c", say(`${n} `))
      const oldest = Math.max(0, n - 9)
      const missed = (back: number) => subscribe({ since: lastSeq() - back }, () => {})
      const { missed: all, reset, unsubscribe } = missed(n + 1 - oldest)
      expect([textsOf(all).split(" ")[0], all.length, reset]).toEqual([
        `${oldest}`,
        n + 1 - oldest,
        false,
      ])
      unsubscribe()
      if (n < 10) continue
      const beyond = missed(11)
      expect(beyond.reset).toBe(true)
      beyond.unsubscribe()
    }
  })

  test("the log holds so many characters and no more, and survives an event larger than all of it", () => {
    const { publish, subscribe, lastSeq } = bus({ maxChars: 1000 })
    const kept = (back: number) => subscribe({ since: lastSeq() - back }, () => {})
    for (let n = 0; n < 50; n++) publish("c", say("x".repeat(300)))
    expect(kept(2)).toMatchObject({ reset: false, missed: [{}, {}] })
    expect(kept(3).reset).toBe(true)
    publish("c", say("x".repeat(5000)))
    expect(kept(1).reset).toBe(true)
    expect(kept(0)).toMatchObject({ reset: false, missed: [] })
    publish("c", say("small"))
    expect(textsOf(kept(1).missed)).toBe("small")
    expect(kept(2).reset).toBe(true)
  })
})
