/** What a script prints when a turn is told again. */
import { expect, test } from "bun:test"
import type { WireEvent } from "../../../src/cli/chat/read-events.ts"
import { createScriptWriter, type ScriptForm } from "../../../src/cli/chat/script-writer.ts"

function writerFor(form: ScriptForm, isTerminal = false) {
  const written = { out: "", err: "" }
  const into = (place: "out" | "err") => ({
    write: (text: string) => {
      written[place] += text
    },
    flush: async () => {},
  })
  const writer = createScriptWriter({ form, isTerminal, out: into("out"), err: into("err") })
  const tell = (event: WireEvent) => writer.event(event, JSON.stringify(event))
  const item = (id: string, text: string, status: string) => ({
    ...{ id, kind: "agent_message", turn_id: "t", text, status },
  })
  return {
    ...{ writer, written },
    /** A whole message in pieces, or its beginning. */
    say: (id: string, pieces: string[], isWhole = true) => {
      tell({ type: "item_started", item: item(id, "", "running") })
      for (const text of pieces) tell({ type: "item_delta", id, delta: { text } })
      if (isWhole) tell({ type: "item_completed", item: item(id, pieces.join(""), "completed") })
    },
    call: (callId: string, status: string, output = "") => {
      const call = { id: `t:${callId}`, kind: "tool_call", call_id: callId, name: "look" }
      const type = status === "running" ? "item_started" : "item_completed"
      tell({ type, item: { ...call, status, input: {}, result: { output, is_error: true } } })
    },
  }
}

test("a turn that is told again from its beginning goes on where it was", () => {
  const { writer, written, say, call } = writerFor("plain")
  say("t:0", ["let me ", "see"])
  call("c1", "running")
  call("c1", "failed", "no eyes\nat all")
  say("t:2", ["let me ", "th"], false)
  writer.again()
  say("t:0", ["let me see"])
  call("c1", "running")
  call("c1", "failed", "no eyes\nat all")
  say("t:2", ["let me ", "think"])
  say("t:3", ["let me ", "think"])
  writer.end()
  expect(written).toEqual({
    out: "let me see\nlet me think\nlet me think\n",
    err: "· look\n· look failed: no eyes\n",
  })
})

test("a turn that was taken up anew and says something else says it on a new line", () => {
  const { writer, written, say } = writerFor("plain")
  say("t:0", ["one two"], false)
  writer.again()
  say("t:0", ["one ", "three"])
  writer.end()
  expect(written.out).toBe("one two\none three\n")
})

test("--quiet prints the last message once, whatever was told before", () => {
  const { writer, written, say } = writerFor("quiet")
  say("t:0", ["let me see"])
  say("t:1", ["no"], false)
  writer.again()
  say("t:0", ["let me see"])
  say("t:1", ["nobody"])
  writer.end()
  writer.end()
  expect(written).toEqual({ out: "nobody\n", err: "" })
})

test("on a terminal nothing of the model moves the cursor", () => {
  const { writer, written, say, call } = writerFor("plain", true)
  say("t:0", ["\u001b]0;owned\u0007red \u001b[2Jand \u202egreen"])
  call("c1", "failed", "\u001b[31mbad\u0007")
  writer.end()
  expect(written).toEqual({ out: "red and green\n", err: "· look failed: bad\n" })
})
