/** Stored messages to what a model is shown, for whole and for damaged histories. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createConversation } from "../../src/context/conversation.ts"
import { historyForModel, IMAGES_MAX } from "../../src/context/history.ts"
import { planPast } from "../../src/context/traffic.ts"
import type { ModelMessage } from "../../src/llm/provider.ts"
import { forkMarker, MACHINE_TEXT } from "../../src/schema/machine-text.ts"
import type { Block } from "../../src/schema/message.ts"
import {
  anyHistory,
  anyTurn,
  assistant,
  CURRENT,
  call,
  faultOf,
  message,
  picture,
  result,
  text,
  thought,
  traffic,
  user,
  view,
} from "./stored.ts"

const lost = (id: string): Block => ({
  type: "tool_result",
  id,
  output: MACHINE_TEXT.call_interrupted.marker,
  is_error: true,
})

const shown = (...history: Parameters<typeof historyForModel>[0]): ModelMessage[] => {
  const messages = historyForModel(history, view()).shown
  expect(faultOf(messages)).toBeUndefined()
  return [...messages]
}

describe("pairs", () => {
  test("a call without a result gets one that is made up, byte for byte the same each time", () => {
    const history = [user(text("go")), assistant(call("a"), call("b")), user(result("b"))]
    const expected: ModelMessage[] = [
      { role: "user", blocks: [text("go")] },
      { role: "assistant", blocks: [call("a"), call("b")] },
      { role: "user", blocks: [lost("a"), result("b")] },
    ]
    expect(shown(...history)).toEqual(expected)
    expect(JSON.stringify(shown(...history))).toBe(JSON.stringify(shown(...history)))
  })

  test("TOOL-36: an orphaned result never appears, and what is said beside it stays", () => {
    expect(shown(user(result("gone"), text("hello")), user(result("gone too")))).toEqual([
      { role: "user", blocks: [text("hello")] },
    ])
  })

  test("a second result of one call is left out", () => {
    const history = [assistant(call("a")), user(result("a", "first")), user(result("a", "second"))]
    expect(shown(...history)[1]).toEqual({ role: "user", blocks: [result("a", "first")] })
  })

  test("results out of order and spread over messages come in the order of their calls, before any speech", () => {
    const history = [
      assistant(call("a"), call("b"), call("c")),
      user(result("c")),
      user(text("meanwhile"), result("b")),
      user(result("a")),
      assistant(text("done")),
    ]
    expect(shown(...history)).toEqual([
      { role: "assistant", blocks: [call("a"), call("b"), call("c")] },
      { role: "user", blocks: [result("a"), result("b"), result("c"), text("meanwhile")] },
      { role: "assistant", blocks: [text("done")] },
    ])
  })

  test("a result behind the next answer or in another turn answers nothing", () => {
    const later = [assistant(call("a")), assistant(text("next")), user(result("a"))]
    expect(shown(...later)[1]).toEqual({ role: "user", blocks: [lost("a")] })
    const elsewhere = message("user", [result("a"), text("hi")], { turn_id: "t2" })
    expect(shown(assistant(call("a")), elsewhere)[1]).toEqual({
      role: "user",
      blocks: [lost("a"), text("hi")],
    })
  })

  test("ids that a model gives again become unique, each result with its own call", () => {
    const history = [
      assistant(call("call_0"), call("call_0")),
      user(result("call_0", "1"), result("call_0", "2")),
      assistant(call("call_0")),
      user(result("call_0", "3")),
    ]
    const blocks = shown(...history).flatMap((one) => one.blocks)
    expect(blocks.map((block) => "id" in block && block.id)).toEqual([
      ...["call_0", "call_0_2", "call_0", "call_0_2"],
      ...["call_0_3", "call_0_3"],
    ])
    const outputs = blocks.flatMap((block) => (block.type === "tool_result" ? [block.output] : []))
    expect(outputs).toEqual(["1", "2", "3"])
  })

  test("a name that no provider takes back and arguments that are no object do not lock the chat", () => {
    const [answer] = shown(assistant(call("a", "no such tool!", "text"), call("b", "", null)))
    expect(answer!.blocks).toEqual([call("a", "no_such_tool_", {}), call("b", "unnamed", {})])
  })
})

describe("what is left out", () => {
  test("FRG-005 FRG-006 FRG-007: the markers of a fold and of a branch are never sent to a model", () => {
    const history = [
      message("user", [text(forkMarker("parent", "m1"))], { turn_id: null }),
      user(text("one")),
      assistant(text("two")),
      message("user", [text(MACHINE_TEXT.compaction_marker.marker)], { turn_id: null }),
      user(text("three")),
    ]
    expect(shown(...history)).toEqual([
      { role: "user", blocks: [text("one")] },
      { role: "assistant", blocks: [text("two")] },
      { role: "user", blocks: [text("three")] },
    ])
  })

  test("a marker in the middle of what somebody says is speech", () => {
    const said = `look: ${MACHINE_TEXT.compaction_marker.marker}`
    expect(shown(user(text(said)))).toEqual([{ role: "user", blocks: [text(said)] }])
  })

  test("text of pure white space is dropped, and a message left with nothing too", () => {
    const history = [user(text("a")), assistant(text(" \n"), thought("hm")), user(text("b"))]
    expect(shown(...history)).toEqual([{ role: "user", blocks: [text("a"), text("b")] }])
  })

  test("a guest's results and empty messages bring no speaker's header into the prompt", () => {
    const guest = { master: false, sender: "p7" }
    const history = [
      message("user", [text("hi")], guest),
      message("assistant", [call("a")], { master: false }),
      message("user", [result("a")], { master: false }),
      message("user", [text(" ")], guest),
    ]
    expect(shown(...history).at(-1)).toEqual({ role: "user", blocks: [result("a")] })
  })

  test("thoughts go back within their turn only", () => {
    const now = { turn_id: CURRENT }
    const history = [
      user(text("a")),
      assistant(thought("old"), text("b")),
      message("user", [text("c")], now),
      message("assistant", [thought("new"), call("x")], now),
      message("user", [result("x")], now),
    ]
    expect(shown(...history).flatMap((one) => one.blocks)).toEqual([
      ...[text("a"), text("b"), text("c"), thought("new"), call("x"), result("x")],
    ])
  })

  test("what a user's or an assistant's message cannot hold is dropped from a damaged one", () => {
    const history = [user(thought("x"), call("a"), text("hi")), assistant(result("a"), text("yes"))]
    expect(shown(...history)).toEqual([
      { role: "user", blocks: [text("hi")] },
      { role: "assistant", blocks: [text("yes")] },
    ])
  })
})

describe("pictures", () => {
  const pictures = (count: number) =>
    Array.from({ length: count }, (_, index) => user(picture(`i${index}`)))
  const kinds = (messages: readonly ModelMessage[]) =>
    messages.flatMap((one) => one.blocks.map((block) => block.type))

  test("TURN-062 FRG-012: a picture of an answer is shown as a mark with its id and address", () => {
    const [answer] = shown(assistant(picture("i1"), text("here")))
    expect(answer!.blocks).toEqual([text("[image i1] http://eva/images/i1"), text("here")])
  })

  test("a model without eyes is told of the picture that it cannot see", () => {
    const messages = historyForModel(
      [user(text("look"), picture("i1"))],
      view({ vision: false }),
    ).shown
    expect(messages[0]!.blocks).toEqual([
      text("look"),
      text("[image — this model cannot see it: i1]"),
    ])
  })

  test("the newest pictures go as pictures, the older ones as marks", () => {
    expect(kinds(shown(...pictures(IMAGES_MAX)))).toEqual(Array(IMAGES_MAX).fill("image"))
    const blocks = shown(...pictures(26)).flatMap((one) => one.blocks)
    expect(blocks[0]).toEqual(text("[image i0] http://eva/images/i0"))
    const sent = blocks.flatMap((block) => (block.type === "image" ? [block.id] : []))
    expect(sent).toEqual(Array.from({ length: 16 }, (_, index) => `i${index + 10}`))
  })

  test("so many turn into marks at once that not every further picture changes the prefix", () => {
    const prefixes = [21, 25, 30].map((count) =>
      JSON.stringify(shown(...pictures(count))[0]!.blocks.slice(0, 21)),
    )
    expect(new Set(prefixes).size).toBe(1)
    for (const count of [21, 30, 31, 99, 100]) {
      const sent = kinds(shown(...pictures(count))).filter((kind) => kind === "image").length
      expect(sent).toBeGreaterThan(IMAGES_MAX - 10)
      expect(sent).toBeLessThanOrEqual(IMAGES_MAX)
    }
  })

  test("one picture said again and again counts each time", () => {
    const again = Array.from({ length: 30 }, () => user(picture("same")))
    expect(kinds(shown(...again)).filter((kind) => kind === "image")).toHaveLength(IMAGES_MAX)
  })

  test("a mark of the kernel is not quoted as a guest's words", () => {
    const guest = message("user", [text("look"), picture("i1")], { master: false, sender: "p7" })
    const [shownMessage] = historyForModel([guest], view({ vision: false })).shown
    expect(shownMessage!.blocks).toEqual([
      text("[2026-01-05 10:00 p7 Anna]\n> look"),
      text("[image — this model cannot see it: i1]"),
    ])
  })
})

describe("any history", () => {
  test("passes the rules of the strictest provider and alternates", () => {
    fc.assert(
      fc.property(anyHistory, fc.boolean(), (history, vision) => {
        const before = structuredClone(history)
        const messages = historyForModel(history, view({ vision })).shown
        expect(faultOf(messages)).toBeUndefined()
        for (const [index, one] of messages.entries()) {
          expect(one.role).not.toBe(messages[index - 1]?.role as never)
        }
        expect(history).toEqual(before)
      }),
      { numRuns: 500 },
    )
  })

  test("is the same whether the past was rendered before or everything is rendered anew", () => {
    fc.assert(
      fc.property(anyTurn, fc.boolean(), ({ past, own }, vision) => {
        const conversation = createConversation(past, own.slice(0, 1), {
          ...traffic(),
          squeezeAt: 0,
        })
        const { forms } = planPast(past, traffic())
        const shown = () => conversation.shown(view({ vision })).messages
        const anew = (count: number) =>
          historyForModel([...past, ...own.slice(0, count)], view({ vision }), forms).shown
        const first = shown()
        expect(first).toEqual(anew(1))
        const bytes = JSON.stringify(first)
        for (const [index, one] of own.entries()) {
          if (index === 0) continue
          conversation.add([one])
          expect(shown()).toEqual(anew(index + 1))
        }
        // What was handed out before is not changed by what came after.
        expect(JSON.stringify(first)).toBe(bytes)
      }),
      { numRuns: 300 },
    )
  })
})
