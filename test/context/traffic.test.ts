/** What becomes of tool traffic when a turn begins: the fresh window, stubs, copies, stale readings. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { freshFrom } from "../../src/context/boundary.ts"
import { createConversation } from "../../src/context/conversation.ts"
import { historyForModel } from "../../src/context/history.ts"
import { planPast, type TrafficSettings } from "../../src/context/traffic.ts"
import { MACHINE_TEXT, repeatedCallNote } from "../../src/schema/machine-text.ts"
import type { Block, Message } from "../../src/schema/message.ts"
import {
  anyHistory,
  anyTurn,
  call,
  faultOf,
  message,
  result,
  text,
  traffic,
  view,
} from "./stored.ts"

interface Step {
  tool: string
  input?: unknown
  output?: string
  failed?: boolean
  uneventful?: boolean
}

/** A turn of one person's words, a call per answer, and a last answer. */
function turn(id: string, ...steps: Step[]): Message[] {
  const own = { turn_id: id }
  const traffic = steps.flatMap((step, index) => {
    const callId = `${id}.${index}`
    const answer: Block = {
      ...{ type: "tool_result", id: callId, output: step.output ?? "ok" },
      is_error: step.failed === true,
      ...(step.uneventful && { uneventful: true }),
    }
    return [
      message("assistant", [call(callId, step.tool, step.input ?? {})], own),
      message("user", [answer], own),
    ]
  })
  return [
    message("user", [text(`ask ${id}`)], own),
    ...traffic,
    message("assistant", [text(`done ${id}`)], own),
  ]
}

const shell = (command: string, output = "x".repeat(1000)): Step => ({
  ...{ tool: "shell", input: { command }, output },
})
const many = (count: number, from = 0): Step[] =>
  Array.from({ length: count }, (_, index) => shell(`make ${from + index}`))

/** What the model sees of each result, by the id of its call. */
function outputs(
  history: readonly Message[],
  settings: TrafficSettings = traffic(),
): Record<string, string> {
  const { shown } = historyForModel(history, view(), planPast(history, settings).forms)
  expect(faultOf(shown)).toBeUndefined()
  const results = shown.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "tool_result" ? [[block.id, block.output]] : [])),
  )
  return Object.fromEntries(results)
}

const isStub = (output: string | undefined): boolean => output?.includes("[elided: ") === true

describe("the fresh window", () => {
  test("CTX-45: is over after so many answers with calls, or after so many characters", () => {
    const nine = outputs(turn("t", ...many(9)))
    expect(Object.keys(nine).filter((id) => isStub(nine[id]))).toEqual(["t.0", "t.1", "t.2"])
    const heavy = outputs(turn("t", ...many(6)), traffic({ window: { exchanges: 6, chars: 3500 } }))
    expect(Object.keys(heavy).filter((id) => isStub(heavy[id]))).toEqual(["t.0", "t.1", "t.2"])
  })

  test("CTX-45: counts the results of one answer together, and what they weigh in a prompt", () => {
    const calls = ["a", "b", "c"]
    const own = { turn_id: "t" }
    const parallel = [
      message("user", [text("go")], own),
      message(
        "assistant",
        calls.map((id) => call(id, "shell", { id })),
        own,
      ),
      ...calls.map((id) => message("user", [result(id, "y".repeat(100_000))], own)),
    ]
    // Three results of 2000 shown characters each weigh 6000, however long they were.
    const within = outputs(parallel, traffic({ window: { exchanges: 1, chars: 6100 } }))
    expect(Object.values(within).some(isStub)).toBe(false)
    const beyond = outputs(parallel, traffic({ window: { exchanges: 1, chars: 5900 } }))
    expect(Object.values(beyond).every(isStub)).toBe(true)
  })

  test("CTX-46: without a bound in characters answers alone are counted", () => {
    const history = turn("t", shell("a", "z".repeat(90_000)), shell("b"))
    expect(isStub(outputs(history)["t.0"])).toBe(false)
    const settings = (chars: number) => traffic({ window: { exchanges: 2, chars } })
    expect(isStub(outputs(history, settings(1000))["t.0"])).toBe(true)
    expect(isStub(outputs(history, settings(0))["t.0"])).toBe(false)
  })

  test("CTX-49: inputs are left out at the very boundary at which results are", () => {
    const write = (index: number): Step => ({
      tool: "write_file",
      input: { path: `${index}.txt`, content: "c".repeat(500) },
      output: "w".repeat(500),
    })
    const history = turn("t", ...Array.from({ length: 9 }, (_, index) => write(index)))
    const { shown } = historyForModel(history, view(), planPast(history, traffic()).forms)
    const blocks = shown.flatMap((one) => one.blocks)
    const short = (type: Block["type"]) =>
      blocks
        .filter((block) => block.type === type)
        .map((block) => JSON.stringify(block).length < 350)
    expect(short("tool_use")).toEqual(short("tool_result"))
    expect(short("tool_use")).toEqual([...Array(3).fill(true), ...Array(6).fill(false)])
  })

  test("TURN-052 CACHE-11: one function says where it begins, to stubs and to the anchor alike", () => {
    const history = [...turn("a", ...many(4)), ...turn("b", ...many(4, 10))]
    const { boundary } = planPast(history, traffic())
    expect(history[boundary]!.blocks[0]).toMatchObject({ id: "a.2" })
    const { stable, messages } = createConversation(
      history,
      [message("user", [text("next")], { turn_id: "now" })],
      { ...traffic(), squeezeAt: 0 },
    ).shown(view())
    // The next message is the first answer whose traffic is fresh.
    expect(messages[stable]!.blocks[0]).toMatchObject({ id: "a.2" })
    const before = JSON.stringify(messages.slice(0, stable))
    expect(before.match(/elided/g)).toHaveLength(2)
    expect(freshFrom([1, 1, 1], 3, { exchanges: 2, chars: 0 })).toBe(1)
  })
})

describe("traffic of closed turns", () => {
  const history = [...turn("a", ...many(8)), ...turn("b", shell("late"))]

  test("CTX-50: is kept whole, shown in short, or left out with its calls", () => {
    const keep = outputs(history, traffic({ past: "keep" }))
    expect(Object.values(keep).some(isStub)).toBe(false)
    const stub = outputs(history, traffic({ past: "stub" }))
    expect(Object.values(stub).filter(isStub)).toHaveLength(3)
    const drop = outputs(history, traffic({ past: "drop" }))
    expect(Object.keys(drop)).toEqual(["a.3", "a.4", "a.5", "a.6", "a.7", "b.0"])
    const { shown } = historyForModel(
      history,
      view(),
      planPast(history, traffic({ past: "drop" })).forms,
    )
    expect(shown[0]!.blocks).toEqual([text("ask a")])
  })

  test("CTX-59 TURN-055: what found nothing leaves first, from the very next turn on", () => {
    const past = turn("a", shell("ls"), { tool: "find", output: "no matches", uneventful: true })
    expect(outputs(past)).toEqual({
      "a.0": "x".repeat(1000),
      "a.1": MACHINE_TEXT.empty_result.marker,
    })
    const older = [...past, ...turn("b", ...many(8))]
    expect(outputs(older)["a.1"]).toBe("[empty]")
  })
})

const readFile = (from: number, to: number, path = "/w/a.ts"): Step => ({
  tool: "read_file",
  input: { path, offset: from, limit: to - from + 1 },
  output: `[lines ${from}-${to} of 500] server:${path}\n${`${from}\tcontent\n`.repeat(40)}`,
})

describe("copies", () => {
  test("CTX-52 TURN-053 TFILE-53: a reading goes when a later one covers it whole; others stay", () => {
    const past = turn("a", readFile(10, 50), readFile(40, 90), readFile(1, 60), ...many(6))
    const seen = outputs(past)
    expect(seen["a.0"]).toBe(MACHINE_TEXT.repeated_read.marker)
    expect(isStub(seen["a.1"])).toBe(true)
    expect(isStub(seen["a.2"])).toBe(true)
  })

  test("a reading of another file, another encoding or one that failed covers nothing", () => {
    const other = readFile(1, 500, "/w/b.ts")
    const failed = { ...readFile(1, 500), failed: true }
    const seen = outputs(turn("a", readFile(10, 50), other, failed, ...many(6)))
    expect(isStub(seen["a.0"])).toBe(true)
  })

  test("a list of files is covered when each of them is", () => {
    const head = (path: string) => `== ${path}\n[lines 1-9 of 9] server:/w/${path}\n1\tx`
    const both: Step = {
      tool: "read_file",
      input: { path: ["a.ts", "b.ts"] },
      output: `${head("a.ts")}\n\n${head("b.ts")}\n${"y".repeat(300)}`,
    }
    const one = outputs(turn("a", both, readFile(1, 9, "/w/a.ts"), ...many(6)))
    expect(isStub(one["a.0"])).toBe(true)
    const two = turn("a", both, readFile(1, 9, "/w/a.ts"), readFile(1, 20, "/w/b.ts"), ...many(5))
    expect(outputs(two)["a.0"]).toBe("[re-read further down]")
  })

  test("CTX-53: what a memory query found goes when a later result holds all of it", () => {
    const found = (...ids: number[]): Step => ({
      tool: "memory_search",
      input: { query: `q${ids.length}` },
      output: ["id | kind", ...ids.map((id) => `${id} | ${"fact ".repeat(60)}`)].join("\n"),
    })
    const seen = outputs(turn("a", found(1, 2), found(2, 5), found(3, 2, 1), ...many(6)))
    expect(seen["a.0"]).toBe("[re-read further down]")
    expect(isStub(seen["a.1"])).toBe(true)
  })

  test("CTX-72: the older result of a repeated call is named as such, not shown a second time", () => {
    const seen = outputs(turn("a", shell("make"), shell("make all"), shell("make"), ...many(6)))
    expect(seen["a.0"]).toBe(repeatedCallNote)
    expect(repeatedCallNote).toStartWith(MACHINE_TEXT.repeated_call.marker)
    expect(isStub(seen["a.1"])).toBe(true)
    const failed = outputs(turn("a", shell("make"), { ...shell("make"), failed: true }, ...many(6)))
    expect(isStub(failed["a.0"])).toBe(true)
  })

  test("CTX-54: nothing goes while the window holds it", () => {
    const seen = outputs(turn("a", readFile(1, 9), readFile(1, 9), shell("make"), shell("make")))
    expect(Object.values(seen).every((output) => !output.startsWith("[re-read"))).toBe(true)
    expect(seen["a.2"]).toBe("x".repeat(1000))
  })
})

describe("stale readings", () => {
  const STALE = "[superseded: the file was written after this read; read it again]"
  const patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** End Patch"
  const writers: Record<string, Step> = {
    write_file: { tool: "write_file", input: { path: "/w/src/a.ts", content: "y" } },
    "write_file of several": {
      tool: "write_file",
      input: { files: [{ path: "/w/b.ts" }, { path: "./src/a.ts", content: "y" }] },
    },
    write_diff: { tool: "write_diff", input: { path: "src/../src/a.ts", old: "x", new: "y" } },
    write_hex: { tool: "write_hex", input: { writes: [{ path: "src/a.ts", offset: 0 }] } },
    apply_patch: { tool: "apply_patch", input: { patch } },
    "a move": {
      tool: "apply_patch",
      input: { patch: patch.replace("@@", "*** Move to: c.ts\n@@") },
    },
    "a patch that landed in part": {
      ...{ tool: "apply_patch", input: { patch }, failed: true },
      output: "The patch was applied in part on server: some files could not be written.",
    },
  }
  for (const [name, writer] of Object.entries(writers)) {
    test(`CTX-55 CTX-56 TURN-054 TFILE-51 TFILE-52 FRG-010: ${name} makes earlier readings of the file stale`, () => {
      const read = readFile(1, 9, "/w/src/a.ts")
      const seen = outputs(
        turn("a", read, readFile(1, 9, "/w/other.ts"), writer, readFile(1, 5, "/w/src/a.ts")),
      )
      expect(seen["a.0"]).toBe(STALE)
      expect(seen["a.1"]).not.toBe(STALE)
      // What was read after the write is true.
      expect(seen["a.3"]).not.toBe(STALE)
      // Old or fresh makes no difference.
      expect(outputs(turn("a", read, writer, ...many(8)))["a.0"]).toBe(STALE)
    })
  }

  test("CTX-56 TFILE-52: neither a shell nor a write that failed makes anything stale", () => {
    const read = readFile(1, 9, "/w/a.ts")
    const harmless: Step[] = [
      shell("sed -i s/x/y/ /w/a.ts"),
      { tool: "write_file", input: { path: "/w/a.ts" }, failed: true, output: "no such folder" },
      { tool: "write_file", input: { path: "/w/aa.ts" } },
      { tool: "write_file", input: { path: "/w/a.ts", on: "client" } },
    ]
    const onServer = { ...read, input: { path: "/w/a.ts", on: "server" } }
    expect(outputs(turn("a", onServer, ...harmless))["a.0"]).not.toBe(STALE)
  })

  test("a reading that a later one covers is named as read again, and that one as stale", () => {
    const read = readFile(1, 9, "/w/a.ts")
    const write: Step = { tool: "write_diff", input: { path: "/w/a.ts" } }
    const seen = outputs(turn("a", read, read, write, ...many(7)))
    expect(seen["a.0"]).toBe("[re-read further down]")
    expect(seen["a.1"]).toBe(STALE)
  })
})

describe("what an old exchange became", () => {
  test("CACHE-08: never changes any more, whatever is read, written or said later", () => {
    const write: Step = { tool: "write_file", input: { path: "/w/a.ts" } }
    const turns = [
      turn("a", readFile(1, 50, "/w/a.ts"), shell("make"), ...many(2)),
      turn("b", ...many(8, 20)),
      turn("c", write, readFile(1, 90, "/w/a.ts"), shell("make")),
      turn("d", ...many(9, 40)),
    ]
    const at = (count: number) => {
      const history = turns.slice(0, count).flat()
      return createConversation(history, [message("user", [text("now")], { turn_id: "now" })], {
        ...traffic(),
        squeezeAt: 0,
      }).shown(view())
    }
    for (const count of [1, 2, 3]) {
      const { messages, stable } = at(count)
      const settled = JSON.stringify(messages.slice(0, stable)).slice(0, -1)
      expect(JSON.stringify(at(count + 1).messages)).toStartWith(settled)
    }
  })

  test("CACHE-08 CTX-01: is the same for any history, cut anywhere in front", () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(11), (history, cut) => {
        const before = structuredClone(history)
        const settings = traffic({ window: { exchanges: 1, chars: 500 } })
        const starts = history.findIndex(
          (one, index) => index >= cut && one.turn_id !== history[index - 1]?.turn_id,
        )
        if (starts < 0) return
        const whole = planPast(history, settings).forms
        for (const [stored, form] of planPast(history.slice(starts), settings).forms) {
          expect(form).toEqual(whole.get(stored)!)
        }
        expect(history).toEqual(before)
      }),
      { numRuns: 300 },
    )
  })
})

const anySettings: fc.Arbitrary<TrafficSettings & { squeezeAt: number }> = fc.record({
  window: fc.record({ exchanges: fc.nat(4), chars: fc.constantFrom(0, 1, 100, 5000) }),
  past: fc.constantFrom("keep" as const, "stub" as const, "drop" as const),
  limits: fc.record({
    maxChars: fc.integer({ min: 200, max: 400 }),
    readerChars: fc.constant(1000),
  }),
  traits: fc.constant(() => ({})),
  squeezeAt: fc.constantFrom(0, 1, 50),
})

test("CTX-01 CTX-74 TURN-051: under any settings every call is paired, roles alternate, nothing is empty, the newest message is whole, and the same is said twice", () => {
  fc.assert(
    fc.property(anyTurn, anySettings, ({ past, own }, settings) => {
      const before = structuredClone({ past, own })
      const conversation = createConversation(past, own, settings)
      const { messages } = conversation.shown(view())
      expect(faultOf(messages)).toBeUndefined()
      for (const [index, one] of messages.entries()) {
        expect(one.role).not.toBe(messages[index - 1]?.role as never)
      }
      conversation.squeeze((words) => words.length)
      const squeezed = conversation.shown(view()).messages
      expect(faultOf(squeezed)).toBeUndefined()
      expect(squeezed.at(-1)).toEqual(messages.at(-1) as never)
      conversation.squeeze((words) => words.length)
      expect(conversation.shown(view()).messages).toEqual(squeezed)
      const again = createConversation(past, own, settings)
      expect(again.shown(view()).messages).toEqual(messages)
      expect({ past, own }).toEqual(before)
    }),
    { numRuns: 500 },
  )
})
