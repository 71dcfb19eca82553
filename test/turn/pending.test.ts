/** The table of what waits for a client: who is meant, and that nothing stays behind. */
import { expect, test } from "bun:test"
import { KernelError } from "../../src/lib/error.ts"
import type { TurnEvent } from "../../src/schema/event.ts"
import { type AskingTurn, type ClientRequest, Pending } from "../../src/turn/pending.ts"

function askingTurn(chatId: string, turnId = `turn of ${chatId}`) {
  const told: TurnEvent[] = []
  const cancel = new AbortController()
  let over = false
  const turn: AskingTurn = {
    ...{ chatId, turnId, signal: cancel.signal },
    ended: () => over,
    emit: (event) => void told.push(event),
  }
  const end = (): void => {
    over = true
  }
  return { turn, told, cancel: () => cancel.abort(), end }
}

const request = (
  turn: AskingTurn,
  more: Partial<ClientRequest<string>> = {},
): ClientRequest<string> => ({ kind: "op", id: "call_1", turn, timeoutMs: 60_000, ...more })

const reasonsOf = (told: readonly TurnEvent[]): string[] =>
  told.flatMap((event) => (event.type === "request_resolved" ? [event.reason] : []))

test("the ids of providers may be the same in two chats: the one in the path comes first", async () => {
  const pending = new Pending()
  const a = pending.wait(request(askingTurn("a").turn))
  const b = pending.wait(request(askingTurn("b").turn))
  const name = { kind: "op", id: "call_1", anyChat: true } as const
  expect(pending.answer({ ...name, chatId: "b" }, "for b")).toBe(true)
  expect(await b).toEqual({ reason: "answered", answer: "for b" })
  expect(pending.answer({ ...name, chatId: "elsewhere" }, "for a")).toBe(true)
  expect(await a).toEqual({ reason: "answered", answer: "for a" })
  expect(pending.answer({ ...name, chatId: "a" }, "late")).toBe(false)
  expect(pending.size()).toBe(0)
})

test("an answer that the request refuses leaves it waiting", async () => {
  const pending = new Pending()
  const { turn, told } = askingTurn("a")
  const check = (answer: string) => {
    if (answer === "wrong") throw new KernelError("invalid", "not this")
  }
  const waiting = pending.wait(request(turn, { check }))
  const name = { kind: "op", id: "call_1", chatId: "a" } as const
  expect(() => pending.answer(name, "wrong")).toThrow("not this")
  expect(told).toEqual([])
  pending.answer(name, "right")
  expect(await waiting).toEqual({ reason: "answered", answer: "right" })
})

test("a cancel gives up at once what only reads, and its end is told with that of the turn", async () => {
  const pending = new Pending()
  const { turn, told, cancel, end } = askingTurn("a")
  const waiting = pending.wait(request(turn))
  cancel()
  expect(await waiting).toEqual({ reason: "cancelled" })
  expect(told).toEqual([])
  expect(pending.answer({ kind: "op", id: "call_1", chatId: "a" }, "late")).toBe(false)
  end()
  pending.endTurn(turn.turnId, "cancelled")
  expect(reasonsOf(told)).toEqual(["cancelled"])
  expect(pending.size()).toBe(0)
})

test("within its grace an answer still counts after a cancel, and the turn's end needs no grace", async () => {
  const pending = new Pending()
  const first = askingTurn("a")
  const kept = pending.wait(request(first.turn, { graceMs: 60_000 }))
  first.cancel()
  pending.answer({ kind: "op", id: "call_1", chatId: "a" }, "written")
  expect(await kept).toEqual({ reason: "answered", answer: "written" })
  const second = askingTurn("b")
  const dropped = pending.wait(request(second.turn, { graceMs: 60_000 }))
  second.cancel()
  pending.endTurn(second.turn.turnId, "cancelled")
  expect(await dropped).toEqual({ reason: "cancelled" })
  expect(pending.size()).toBe(0)
})

test("a turn that is cancelled or over asks nobody any more", async () => {
  const pending = new Pending()
  const ask: TurnEvent = { type: "extra_tool_call", id: "call_1", name: "x", input: {} }
  const { turn, told, cancel, end } = askingTurn("a")
  cancel()
  expect(await pending.wait(request(turn, { ask }))).toEqual({ reason: "cancelled" })
  end()
  expect(await pending.wait(request(turn, { ask }))).toEqual({ reason: "turn_ended" })
  expect(told).toEqual([])
  expect(pending.size()).toBe(0)
})

test("the end of one turn settles its requests alone", async () => {
  const pending = new Pending()
  const a = askingTurn("a")
  const b = askingTurn("b")
  const ofA = [0, 1, 2].map((question) =>
    pending.wait(request(a.turn, { kind: "question", question })),
  )
  const ofB = pending.wait(request(b.turn, { timeoutMs: 20 }))
  pending.endTurn(a.turn.turnId, "turn_ended")
  expect(await Promise.all(ofA)).toEqual(Array(3).fill({ reason: "turn_ended" }))
  expect(a.told).toHaveLength(3)
  expect(await ofB).toEqual({ reason: "expired" })
  expect(reasonsOf(b.told)).toEqual(["expired"])
  expect(pending.size()).toBe(0)
})
