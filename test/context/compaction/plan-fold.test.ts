/** Where a fold may end: between whole pieces of the conversation, and never so that nothing is left. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { planFold } from "../../../src/context/compaction/plan-fold.ts"
import { weigh } from "../../../src/context/compaction/weights.ts"
import { isUtterance } from "../../../src/context/utterance.ts"
import type { Message } from "../../../src/schema/message.ts"
import { assistant, call, result, text, thought, traffic, user } from "../stored.ts"

const scales = { traffic: traffic(), textTokens: (said: string) => Math.ceil(said.length / 4) }
const planned = (
  messages: readonly Message[],
  keepTokens: number,
  atLeast: "move" | "answer" = "answer",
): number => planFold(messages, weigh(messages, scales), { keepTokens, atLeast })

const long = "word ".repeat(80) // 100 tokens

test("CTX-22 FRG-018: a fold ends before words of a person; what the machine put in does not count as such", () => {
  const messages = [
    user(text(long)),
    assistant(text(long)),
    user(text(`[kernel] a note ${long}`)),
    assistant(text(long)),
    user(text(long)),
    assistant(text(long)),
  ]
  expect(planned(messages, 450)).toBe(4)
  expect(planned(messages, 250)).toBe(4)
})

test("what fits stays whole, and nothing older than the newest answer is kept at any price", () => {
  const messages = [
    user(text(long)),
    assistant(text(long)),
    user(text(long)),
    assistant(text(long)),
  ]
  expect(planned(messages, 400)).toBe(0)
  expect(planned(messages, 399)).toBe(2)
  expect(planned(messages, 0, "move")).toBe(2)
  expect(planned(messages, 0)).toBe(3)
  expect(planned([user(text(long))], 0)).toBe(0)
  expect(planned([], 0)).toBe(0)
})

test("L049: one long piece of work is folded within, between an answer's results and the next answer", () => {
  const messages = [
    user(text("do it")),
    ...Array.from({ length: 10 }, (_, at) => [
      assistant(call(`c${at}`, "look", { note: long })),
      user(result(`c${at}`, long)),
    ]).flat(),
    assistant(text("done")),
  ]
  const count = planned(messages, 500)
  expect(count).toBeGreaterThan(1)
  expect(messages[count]!.role).toBe("assistant")
})

test("thoughts of closed turns weigh nothing; results weigh as they are shown, not as they are stored", () => {
  const stored = "x".repeat(400_000)
  const [, answer = 0] = weigh(
    [user(text("do it")), assistant(thought(long), call("a", "look")), user(result("a", stored))],
    scales,
  )
  expect(answer).toBeGreaterThan(400)
  expect(answer).toBeLessThan(600)
})

const move = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.nat({ max: 600 }))
  .map(([calls, size]): Message[] => [
    user(text("u".repeat(size + 1))),
    ...Array.from({ length: calls }, (_, at) => [
      assistant(text("a"), call(`c${at}`)),
      user(result(`c${at}`, "r".repeat(size))),
    ]).flat(),
    assistant(text("end")),
  ])

test("L001: no fold parts a call from its result, keeps more than it may, or takes all", () => {
  fc.assert(
    fc.property(
      fc.array(move, { maxLength: 12 }).map((moves) => moves.flat()),
      fc.nat({ max: 2000 }),
      fc.constantFrom("move" as const, "answer" as const),
      (messages, keepTokens, atLeast) => {
        const count = planned(messages, keepTokens, atLeast)
        if (count === 0) return
        const first = messages[count]!
        expect(isUtterance(first) || first.role === "assistant").toBe(true)
        const kept = weigh(messages, scales).slice(count)
        const weight = kept.reduce((sum, tokens) => sum + tokens, 0)
        const newest = messages.findLastIndex(
          atLeast === "move" ? isUtterance : ({ role }) => role === "assistant",
        )
        expect(weight <= keepTokens || count === newest).toBe(true)
        expect(count).toBeLessThanOrEqual(newest)
      },
    ),
  )
})
