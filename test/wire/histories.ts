/** Histories that the serialisation tests send over every wire. */
import { parseJson } from "../../src/lib/json.ts"
import type { ModelMessage, ModelRequest } from "../../src/llm/provider.ts"
import type { Block, ThinkingBlock } from "../../src/schema/message.ts"
import type { ToolSpec } from "../../src/schema/tool-spec.ts"

export const WEATHER: ToolSpec = {
  name: "weather",
  description: "The weather of a city.",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
}

export const PICTURE = { mediaType: "image/png", base64: "aGk=" }

const user = (...blocks: Block[]): ModelMessage => ({ role: "user", blocks })
const assistant = (...blocks: Block[]): ModelMessage => ({ role: "assistant", blocks })
const text = (words: string): Block => ({ type: "text", text: words })

/** A turn in which the model thought, called twice, got two results, and is asked again. */
export const toolTurn = (thoughts: ThinkingBlock[]): ModelMessage[] => [
  user(text("weather in Rome and Oslo?")),
  assistant(
    ...thoughts,
    text("Looking."),
    { type: "tool_use", id: "call_1", name: "weather", input: { city: "Rome" } },
    { type: "tool_use", id: "call_2", name: "weather", input: { city: "Oslo" } },
  ),
  // A reminder that the kernel put before the results must not come between them and the calls.
  user(
    text("[state] it is noon"),
    { type: "tool_result", id: "call_1", output: "sunny", is_error: false },
    { type: "tool_result", id: "call_2", output: "", is_error: true },
  ),
]

/** What a history may hold and no upstream takes: empty blocks, empty messages, repeated roles, NUL. */
export const untidy: ModelMessage[] = [
  user(text("one"), text("  \n")),
  user(text("two\0\ud800")),
  assistant(text(" \n "), { type: "thinking", text: "unsigned" }),
  assistant(text("fine")),
  user(),
  user(text("three")),
]

/** Marks on the system part, in the middle and at the end. */
export const marked: Partial<ModelRequest> = {
  system: [{ text: "Persona.", cacheMark: true }, { text: "Volatile." }],
  messages: [
    { ...user(text("first")), cacheMark: 1 },
    assistant(text("reply")),
    { ...user(text("second"), text("[state] noon")), cacheMark: 1 },
  ],
}

/** A copy without any cache marker. */
export const withoutMarkers = (body: unknown): unknown =>
  parseJson(JSON.stringify(body, (key, value) => (key === "cache_control" ? undefined : value)))
