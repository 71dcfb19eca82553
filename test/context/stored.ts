/** Stored messages for tests of what a model is shown, and random histories, whole and damaged. */
import fc from "fast-check"
import type { ResultView } from "../../src/context/elide.ts"
import type { HistoryView } from "../../src/context/history.ts"
import type { TrafficSettings } from "../../src/context/traffic.ts"
import { createTimeZone } from "../../src/lib/time-zone.ts"
import { requestFault } from "../../src/llm/mock-strict.ts"
import type { ModelMessage } from "../../src/llm/provider.ts"
import { forkMarker, MACHINE_TEXT } from "../../src/schema/machine-text.ts"
import type { Block, Message, Role } from "../../src/schema/message.ts"

export const CURRENT = "turn-now"

/** `read_*` reads by windows, `skill` gives full text, all others are plain tools. */
export const RESULTS: ResultView = {
  limits: { maxChars: 2000, readerChars: 8000 },
  traits: (name) => ({ windowed: name.startsWith("read_"), uncapped: name === "skill" }),
}

export const traffic = (changes: Partial<TrafficSettings> = {}): TrafficSettings => ({
  ...RESULTS,
  window: { exchanges: 6, chars: 24_000 },
  past: "stub",
  ...changes,
})

export const view = (changes: Partial<HistoryView> = {}): HistoryView => ({
  currentTurnId: CURRENT,
  vision: true,
  imageUrl: (id) => `http://eva/images/${id}`,
  personName: (id) => ({ p1: "Boss", p7: "Anna" })[id],
  stamp: createTimeZone("UTC").stamp,
  results: RESULTS,
  ...changes,
})

/** A message of the master's turn `t1`, unless the changes say otherwise. */
export const message = (role: Role, blocks: Block[], changes: Partial<Message> = {}): Message => ({
  ...{ id: "m", chat_id: "c", turn_id: "t1", role, blocks, master: true },
  created_at: "2026-01-05T10:00:00.000Z",
  ...changes,
})

export const text = (value: string): Block => ({ type: "text", text: value })
export const picture = (id: string): Block => ({ type: "image", id, media_type: "image/png" })
export const thought = (value: string): Block => ({
  ...{ type: "thinking", text: value, provider: "mock", model: "mock", signature: "s" },
})
export const call = (id: string, name = "look", input: unknown = {}): Block => ({
  ...{ type: "tool_use", id, name, input },
})
export const result = (id: string, output = `result of ${id}`): Block => ({
  ...{ type: "tool_result", id, output, is_error: false },
})

export const user = (...blocks: Block[]): Message => message("user", blocks)
export const assistant = (...blocks: Block[]): Message => message("assistant", blocks)

/** What the strictest provider says about a request with these messages. */
export function faultOf(messages: readonly ModelMessage[]): string | undefined {
  const asked =
    messages.at(-1)?.role === "user" ? [] : [{ role: "user" as const, blocks: [text("[state]")] }]
  return requestFault({
    ...{ model: "mock", system: [{ text: "system" }], tools: [], effort: "off" as const },
    messages: [...messages, ...asked],
    images: new Map(),
  })
}

const words = fc.oneof(
  fc.constantFrom(
    "",
    " \n\t",
    "[state]\n[now] noon",
    MACHINE_TEXT.compaction_marker.marker,
    forkMarker("parent", "m1"),
    "[#1 p1 Boss (master)]\n> do it",
  ),
  fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\0", "").toWellFormed()),
)
/** Few ids, so that they collide. */
const callId = fc.constantFrom("", "call_0", "call_1", "call_0_2", "toolu:1/x")
const inputs = fc.oneof(
  fc.constantFrom(null, "text", [1]),
  fc.dictionary(fc.constantFrom("a", "b"), words),
)

/** Blocks in places where nobody would write them, too: a database may be damaged. */
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  words.map(text),
  words.map(thought),
  fc.constantFrom("i1", "i2", "i3").map(picture),
  fc
    .tuple(callId, fc.constantFrom("look", "", "no such name!", "n".repeat(80)), inputs)
    .map(([id, name, input]) => call(id, name, input)),
  fc.tuple(callId, words).map(([id, output]) => result(id, output)),
)

const anyMessage = (turnId: fc.Arbitrary<string | null>): fc.Arbitrary<Message> =>
  fc
    .record({
      role: fc.constantFrom<Role>("user", "assistant"),
      blocks: fc.array(anyBlock, { maxLength: 5 }),
      turn_id: turnId,
      master: fc.boolean(),
      rare: fc.record(
        { sender: fc.constantFrom("p1", "p7", "p9"), ext_id: words, reply_to_text: words },
        { requiredKeys: [] },
      ),
    })
    .map(({ role, blocks, turn_id, master, rare }) =>
      message(role, blocks, { turn_id, master, ...rare }),
    )

export const anyHistory: fc.Arbitrary<Message[]> = fc.array(
  anyMessage(fc.constantFrom("t1", "t2", CURRENT, null)),
  { maxLength: 12 },
)

/** The past of a turn and its own messages: no turn lies in both. */
export const anyTurn: fc.Arbitrary<{ past: Message[]; own: Message[] }> = fc.record({
  past: fc.array(anyMessage(fc.constantFrom("t1", "t2", null)), { maxLength: 10 }),
  own: fc.array(anyMessage(fc.constant(CURRENT)), { maxLength: 8 }),
})
