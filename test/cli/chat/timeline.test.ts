/** History and live stream of one turn, joined at any moment and in any order. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { ItemEvent } from "../../../src/cli/chat/read-events.ts"
import { Timeline } from "../../../src/cli/chat/timeline.ts"
import type { TurnEvent } from "../../../src/schema/event.ts"
import { createItemReducer, itemsOfMessages } from "../../../src/schema/item-reducer.ts"
import type { Block, Message } from "../../../src/schema/message.ts"
import { linesOf } from "./support.ts"

const TURN = "01a0-turn-a"

/** Trips of a model: a thought, words, and a call but in the last. */
const tripsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    thought: `thought ${n}`,
    words: `words of trip ${n}`,
    call: n < count - 1 ? `call_${n}` : undefined,
  }))

const message = (n: number, role: Message["role"], blocks: Block[]): Message => ({
  ...{ id: `01a0-turn-a-${String(n).padStart(4, "0")}`, chat_id: "c", turn_id: TURN, role, blocks },
  ...{ created_at: "2026-01-01T00:00:00.000Z", master: true },
})

/** What is on disk and what was told, after each moment of the turn. */
function momentsOf(trips: number): { stored: Message[]; told: ItemEvent[] }[] {
  const reducer = createItemReducer(TURN)
  const stored = [message(0, "user", [{ type: "text", text: "question" }])]
  const told: ItemEvent[] = []
  const moments = [{ stored: [...stored], told: [...told] }]
  const tell = (event: TurnEvent) => {
    told.push(...(reducer.push(event) as ItemEvent[]))
    moments.push({ stored: [...stored], told: [...told] })
  }
  const store = (role: Message["role"], blocks: Block[]) => {
    stored.push(message(stored.length, role, blocks))
    moments.push({ stored: [...stored], told: [...told] })
  }
  for (const { thought, words, call } of tripsOf(trips)) {
    tell({ type: "thinking_delta", text: thought })
    for (const text of words.split(/(?<= )/)) tell({ type: "text_delta", text })
    const use: Block[] = call ? [{ type: "tool_use", id: call, name: "look", input: {} }] : []
    store("assistant", [{ type: "thinking", text: thought }, { type: "text", text: words }, ...use])
    if (!call) continue
    tell({ type: "tool_call", id: call, name: "look", input: {} })
    store("user", [{ type: "tool_result", id: call, output: "seen", is_error: false }])
    tell({ type: "tool_result", id: call, output: "seen", is_error: false })
  }
  tell({ type: "done", reason: "done" })
  return moments
}

const historyOf = (stored: readonly Message[]) => itemsOfMessages(stored, (id) => id)
const finalLines = (trips: number): string[] => [
  "> question",
  ...tripsOf(trips).flatMap(({ thought, words, call }) => [
    `(${thought})`,
    words,
    ...(call ? ["look completed"] : []),
  ]),
]

/** Calls all look alike, so they are counted; every other line must be there once. */
const doubled = (lines: readonly string[]): string[] =>
  lines.filter((line, index) => !line.startsWith("look") && lines.indexOf(line) < index)

describe("a turn that is joined amid its course", () => {
  test("shows no line twice at any moment, and all of them at the end", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat(60), { minLength: 1, maxLength: 6 }),
        fc.nat(60),
        (trips, readings, joining) => {
          const moments = momentsOf(trips)
          const at = (n: number) => n % moments.length
          const joinAt = at(joining)
          const timeline = new Timeline()
          let drawn = 0
          for (const [now, moment] of moments.entries()) {
            if (now >= joinAt) {
              for (const event of moment.told.slice(drawn)) timeline.draw(TURN, event)
              drawn = moment.told.length
            }
            const readsNow = readings.some((reading) => at(reading) === now)
            if (now === joinAt || readsNow) timeline.addStored(historyOf(moment.stored))
            expect(doubled(linesOf(timeline.items()))).toEqual([])
          }
          expect(linesOf(timeline.items())).toEqual(finalLines(trips))
        },
      ),
    )
  })

  test("a run that is seen from its start takes from history only what people said", () => {
    const moments = momentsOf(2)
    const timeline = new Timeline()
    timeline.startRun(TURN)
    let drawn = 0
    for (const { stored, told } of moments) {
      for (const event of told.slice(drawn)) timeline.draw(TURN, event)
      drawn = told.length
      timeline.addStored(historyOf(stored))
      expect(doubled(linesOf(timeline.items()))).toEqual([])
    }
    expect(linesOf(timeline.items())).toEqual(finalLines(2))
  })

  test("a second run goes on behind what the first one stored", () => {
    const [first] = momentsOf(2).filter(({ stored }) => stored.length === 3)
    const timeline = new Timeline()
    timeline.addStored(historyOf(first!.stored))
    timeline.startRun(TURN)
    const reducer = createItemReducer(TURN)
    for (const event of reducer.push({ type: "text_delta", text: "words of trip 1" })) {
      timeline.draw(TURN, event as ItemEvent)
    }
    expect(linesOf(timeline.items())).toEqual([
      ...["> question", "(thought 0)", "words of trip 0", "look completed", "words of trip 1"],
    ])
  })
})

describe("the order of a chat", () => {
  const said = (id: string, text: string, turn_id: string | null = null): Message => ({
    ...message(0, "user", [{ type: "text", text }]),
    ...{ id, turn_id },
  })

  test("is that of turns and of messages without one, whatever comes first", () => {
    const timeline = new Timeline()
    timeline.addStored(historyOf([said("03", "third"), said("04-x", "fourth", "04")]))
    timeline.addStored(historyOf([said("01-x", "first", "01"), said("02", "second")]))
    expect(linesOf(timeline.items())).toEqual(["> first", "> second", "> third", "> fourth"])
    expect(timeline.oldestStored()?.id).toBe("01-x:0")
  })

  test("a turn is hidden until it is known what it answers", () => {
    const timeline = new Timeline()
    timeline.addStored(historyOf([said("01", "first")]))
    timeline.startRun("02")
    timeline.hide("02", true)
    timeline.draw("02", {
      type: "item_started",
      item: { id: "02:0", kind: "agent_message", status: "running", turn_id: "02", text: "so" },
    })
    expect(linesOf(timeline.items())).toEqual(["> first"])
    timeline.addStored(historyOf([said("02-x", "what?", "02")]))
    timeline.hide("02", false)
    expect(linesOf(timeline.items())).toEqual(["> first", "> what?", "so"])
  })
})
