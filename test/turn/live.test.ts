/** The live stream of a turn: its replay tells the same, and whoever joins late misses nothing. */
import { afterEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createBus, type Emission } from "../../src/events/bus.ts"
import { manualClock } from "../../src/lib/clock.ts"
import { parseJson } from "../../src/lib/json.ts"
import { silentLog } from "../../src/lib/log.ts"
import { createGate } from "../../src/llm/mock-gate.ts"
import type { TurnEvent } from "../../src/schema/event.ts"
import type { Item } from "../../src/schema/item.ts"
import { createLiveTurn } from "../../src/turn/live.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

type Told = TurnEvent & { seq: number; chat_id: string; turn_id: string; replayed?: true }

const start = () => {
  const bus = createBus({ clock: manualClock(1_000_000), log: silentLog })
  return { bus, live: createLiveTurn(bus, "c", "t") }
}
const told = (emissions: readonly Emission[]): Told[] =>
  emissions.map((emission) => parseJson(emission.json) as Told)

/** What a client draws of a stream: each item as it stands last, progress replaced, text grown. */
function drawn(events: readonly TurnEvent[]): Item[] {
  const items = new Map<string, Item & { text?: string; progress?: string }>()
  for (const event of events) {
    if (event.type === "item_started" || event.type === "item_completed") {
      items.set(event.item.id, structuredClone(event.item))
    }
    if (event.type !== "item_delta") continue
    const item = items.get(event.id)!
    if (event.delta.text !== undefined) item.text += event.delta.text
    if (event.delta.progress !== undefined) item.progress = event.delta.progress
  }
  return [...items.values()]
}
/** The words of a stream by its plain events. */
const words = (events: readonly TurnEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.text : "")).join("")

const id = fc.constantFrom("a", "b")
const anyEvent: fc.Arbitrary<TurnEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.string().map((text): TurnEvent => ({ type: "text_delta", text })) },
  {
    weight: 2,
    arbitrary: fc.string().map((text): TurnEvent => ({ type: "thinking_delta", text })),
  },
  id.map((id): TurnEvent => ({ type: "tool_call", id, name: "look", input: { id } })),
  fc
    .tuple(id, fc.string())
    .map(([id, output]): TurnEvent => ({ type: "tool_progress", id, output })),
  fc
    .tuple(id, fc.boolean())
    .map(([id, is_error]): TurnEvent => ({ type: "tool_result", id, output: "r", is_error })),
  fc.constant<TurnEvent>({ type: "image", id: "i", media_type: "image/png", url: "u" }),
)
/** Calls have unique ids in a turn: a second one of the same id is left out. */
const anyTurn = fc.array(anyEvent, { maxLength: 40 }).map((events) =>
  events.filter((event, index) => {
    if (event.type !== "tool_call") return true
    return events.findIndex((one) => one.type === "tool_call" && one.id === event.id) === index
  }),
)

describe("replay", () => {
  test("SSE-019 ITM-001: tells the items of the live stream by the same ids, every event of it marked", () => {
    fc.assert(
      fc.property(anyTurn, (events) => {
        const { bus, live } = start()
        const heard: Emission[] = []
        bus.subscribe({}, (emission) => void heard.push(emission))
        for (const event of events) live.emit(event)
        const [first, again] = [told(heard), told(live.replay())]
        expect(drawn(again)).toEqual(drawn(first))
        expect(words(again)).toBe(words(first))
        expect(first.some((event) => event.replayed)).toBe(false)
        expect(again.every((event) => event.replayed && event.seq === bus.lastSeq())).toBe(true)
        expect(again.every((event) => event.chat_id === "c" && event.turn_id === "t")).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test("neighbouring deltas are one, and progress replaces progress between those of other calls", () => {
    const { live } = start()
    for (const text of ["a", "b", "c"]) live.emit({ type: "text_delta", text })
    for (const id of ["x", "y"]) live.emit({ type: "tool_call", id, name: "look", input: {} })
    for (let n = 0; n < 100; n++) {
      for (const id of ["x", "y"]) live.emit({ type: "tool_progress", id, output: `${id}${n}` })
    }
    const plain = told(live.replay()).filter((event) => !event.type.startsWith("item_"))
    expect(plain.map((event) => ("output" in event ? event.output : event.type))).toEqual([
      ...["text_delta", "tool_call", "tool_call", "x99", "y99"],
    ])
  })

  test("nothing is told behind the last event, before which its items close", () => {
    const { bus, live } = start()
    const heard: Emission[] = []
    bus.subscribe({}, (emission) => void heard.push(emission))
    live.emit({ type: "text_delta", text: "a" })
    live.emit({ type: "done", reason: "done" })
    live.emit({ type: "text_delta", text: "late" })
    expect(live.ended()).toBe(true)
    expect(heard.map(({ type }) => type)).toEqual([
      ...["text_delta", "item_started", "item_delta", "item_completed", "done"],
    ])
  })
})

describe("joining late", () => {
  /** As a client does it: first it listens, then it asks for the past. */
  const join = ({ bus, live }: ReturnType<typeof start>) => {
    const seen: Emission[] = []
    bus.subscribe({ chats: ["c"] }, (emission) => void seen.push(emission))
    seen.push(...live.replay())
    return seen
  }

  test("gives the past and the rest, without a gap or a double, wherever one joins", () => {
    fc.assert(
      fc.property(anyTurn, fc.nat(40), (events, at) => {
        const room = start()
        const whole: Emission[] = []
        room.bus.subscribe({}, (emission) => void whole.push(emission))
        for (const event of events.slice(0, at)) room.live.emit(event)
        const late = join(room)
        for (const event of events.slice(at)) room.live.emit(event)
        expect(drawn(told(late))).toEqual(drawn(told(whole)))
        expect(words(told(late))).toBe(words(told(whole)))
      }),
      { numRuns: 300 },
    )
  })

  test("holds also for one who joins while an event is told, before the items that mirror it", () => {
    const room = start()
    const late: Emission[][] = []
    const host = room.bus.subscribe({}, () => {
      host.unsubscribe()
      late.push(join(room))
    })
    room.live.emit({ type: "text_delta", text: "one " })
    room.live.emit({ type: "text_delta", text: "two" })
    room.live.emit({ type: "done", reason: "done" })
    expect(words(told(late[0]!))).toBe("one two")
    expect(drawn(told(late[0]!))).toEqual([
      { id: "t:0", kind: "agent_message", status: "completed", turn_id: "t", text: "one two" },
    ])
  })
})

describe("in a kernel", () => {
  let kernel: TestKernel
  afterEach(() => kernel.dispose())

  test("SSE-019 ITM-001 ITM-007: live, joined late and told again after the end give the same items", async () => {
    const gate = createGate()
    kernel = await testKernel({ mock: { gate } })
    const chat = kernel.newChat()
    const { bus, turns } = kernel.api
    const whole: Emission[] = []
    const ended = Promise.withResolvers<void>()
    bus.subscribe({ chats: [chat] }, (emission) => {
      if (emission.turnId !== undefined) whole.push(emission)
      if (emission.type === "done") ended.resolve()
    })
    const steps = [{ think: "let me see", say: "I look", call: "nothing" }, { say: "it is gone" }]
    const { turnId } = await turns.send(chat, { text: plan(steps) })
    // Joined at each of its chunks: past and tail are the whole every time.
    const late: Emission[][] = []
    let over = false
    void ended.promise.then(() => {
      over = true
    })
    while (!over) {
      const chunk = await Promise.race([gate.next(), ended.promise])
      const live = turns.follow(turnId)
      if (!chunk || !live) break
      const seen: Emission[] = []
      bus.subscribe({ chats: [chat] }, (emission) => {
        if (emission.turnId === turnId) seen.push(emission)
      })
      seen.push(...live.replay())
      late.push(seen)
      chunk.release()
    }
    await ended.promise
    const items = drawn(told(whole))
    expect(items.map(({ id, kind, status }) => `${id} ${kind} ${status}`)).toEqual([
      `${turnId}:0 thinking completed`,
      `${turnId}:1 agent_message completed`,
      `${turnId}:2 tool_call failed`,
      `${turnId}:3 agent_message completed`,
    ])
    expect(late.length).toBeGreaterThan(5)
    for (const seen of late) expect(drawn(told(seen))).toEqual(items)
    const again = told(turns.replayFinished(turnId))
    expect(drawn(again)).toEqual(items)
    expect(again.at(-1)).toMatchObject({ type: "done", reason: "done", replayed: true })
  })

  test("a turn that failed or was cancelled is told again with its end", async () => {
    kernel = await testKernel()
    const chat = kernel.newChat()
    const run = async (text: string) => {
      const events = await kernel.turn(chat, text)
      const turnId = kernel.api.messages.page(chat, {}).at(-1)!.turn_id!
      return { events, again: told(kernel.api.turns.replayFinished(turnId)) }
    }
    const failed = await run(plan([{ say: "so far", fail: "fatal" }]))
    expect(drawn(failed.again)).toEqual(drawn(failed.events))
    expect(failed.again.at(-1)).toMatchObject({
      ...{ type: "error", code: "fatal", retryable: false, replayed: true },
    })
    expect(() => kernel.api.turns.replayFinished("no such turn")).toThrow("no turn with id")
  })
})
