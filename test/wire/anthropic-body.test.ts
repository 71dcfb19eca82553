/** What leaves on Anthropic's wire, read back from the server that got it. */
import { describe, expect, test } from "bun:test"
import { parseJson } from "../../src/lib/json.ts"
import type { ThinkingBlock } from "../../src/schema/message.ts"
import { marked, PICTURE, toolTurn, untidy, WEATHER, withoutMarkers } from "./histories.ts"
import { sentBody } from "./support.ts"

const send = (
  request: Parameters<typeof sentBody>[1],
  options: Parameters<typeof sentBody>[2] = {},
) => sentBody("anthropic-messages", request, options)

const ADAPTIVE = { type: "adaptive", display: "summarized" }
const signed: ThinkingBlock = {
  type: "thinking",
  text: "Two cities.",
  signature: "sig",
  provider: "anthropic",
  model: "m",
}

describe("anthropic body", () => {
  test("LLM-017: a plain request says off aloud and has a ceiling", async () => {
    expect(await send({ maxTokens: 100 })).toEqual({
      model: "m",
      max_tokens: 100,
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
      stream: true,
      thinking: { type: "disabled" },
    })
  })

  test("LLM-017: a thinking level asks for adaptive, visible thought of that effort", async () => {
    const levels = { low: "low", mid: "medium", high: "high" } as const
    for (const effort of ["low", "mid", "high"] as const) {
      const body = await send({ effort, temperature: 0.3 })
      expect(body).toMatchObject({
        thinking: ADAPTIVE,
        output_config: { effort: levels[effort] },
      })
      expect(body).not.toHaveProperty("temperature")
    }
  })

  test("models that think in their own way are asked in their own way", async () => {
    expect(
      await send({ model: "claude-sonnet-4-5", effort: "mid", maxTokens: 20_000 }),
    ).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 8192 },
      max_tokens: 20_000,
    })
    expect(await send({ model: "claude-haiku-4-5-20251001", effort: "high" })).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 24_576 },
      max_tokens: 64_000,
    })
    expect(await send({ model: "claude-opus-4-6", effort: "mid" })).toMatchObject({
      thinking: ADAPTIVE,
    })
    expect(await send({ model: "claude-mythos-5", effort: "off" })).toMatchObject({
      thinking: ADAPTIVE,
      output_config: { effort: "low" },
    })
    expect(await send({ model: "claude-opus-4-5", temperature: 0.3 })).toMatchObject({
      temperature: 0.3,
    })
    expect(await send({ model: "claude-opus-5", temperature: 0.3 })).not.toHaveProperty(
      "temperature",
    )
  })

  test("LLM-018: signed thoughts go back inside the turn, all others never", async () => {
    const { text, ...rest } = signed
    const thoughts: ThinkingBlock[] = [
      signed,
      { ...rest, text: "", signature: undefined, redacted: "enc" },
      { ...signed, signature: undefined },
      { ...signed, model: "other" },
      { ...signed, provider: "openai" },
    ].map((thought) => parseJson(JSON.stringify(thought)) as ThinkingBlock)
    const body = await send({ messages: toolTurn(thoughts), tools: [WEATHER], effort: "mid" })
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "weather in Rome and Oslo?" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: text, signature: "sig" },
          { type: "redacted_thinking", data: "enc" },
          { type: "text", text: "Looking." },
          { type: "tool_use", id: "call_1", name: "weather", input: { city: "Rome" } },
          { type: "tool_use", id: "call_2", name: "weather", input: { city: "Oslo" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "sunny" },
          { type: "tool_result", tool_use_id: "call_2", is_error: true },
          { type: "text", text: "[state] it is noon" },
        ],
      },
    ])
  })

  test("nothing empty leaves, turns alternate and the user speaks first", async () => {
    const body = await send({ system: [{ text: "" }], messages: untidy.slice(2) })
    expect(body).not.toHaveProperty("system")
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "[conversation continues]" }] },
      { role: "assistant", content: [{ type: "text", text: "fine" }] },
      { role: "user", content: [{ type: "text", text: "three" }] },
    ])
    expect((await send({ messages: untidy })).messages).toMatchObject([
      { content: [{ text: "one" }, { text: "two�" }] },
      {},
      {},
    ])
  })

  test("LLM-022 SLP-18: a forced tool is forced, and not while the model thinks", async () => {
    const forced = { tools: [WEATHER], toolChoice: { name: "weather" } }
    expect(await send(forced)).toMatchObject({ tool_choice: { type: "tool", name: "weather" } })
    expect(await send({ ...forced, effort: "low" })).not.toHaveProperty("tool_choice")
    expect(await send({ tools: [WEATHER], toolChoice: "none", effort: "low" })).toMatchObject({
      tool_choice: { type: "none" },
    })
  })

  test("LLM-023 TOOL-42: nothing forbids parallel calls", async () => {
    const body = await send({ tools: [WEATHER] })
    expect(body.tools).toEqual([
      {
        name: "weather",
        description: WEATHER.description,
        input_schema: WEATHER.input_schema,
      },
    ])
    expect(JSON.stringify(body)).not.toContain("disable_parallel_tool_use")
  })

  test("Anthropic itself is asked not to hold long arguments back", async () => {
    const body = await send({ tools: [WEATHER] }, { baseUrl: "https://api.anthropic.com" })
    expect(body.tools).toMatchObject([{ eager_input_streaming: true }])
  })

  test("LLM-020: an answer schema is a forced tool, merely offered while the model thinks", async () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } } }
    const answerSchema = { name: "plan", schema, strict: true }
    const forced = await send({ answerSchema })
    expect(forced).toMatchObject({
      tools: [{ name: "plan", input_schema: schema }],
      tool_choice: { type: "tool", name: "plan" },
    })
    const offered = await send({ answerSchema, effort: "high" })
    expect(offered.tools).toEqual(forced.tools)
    expect(offered).not.toHaveProperty("tool_choice")
    const beside = await send({ answerSchema, tools: [{ ...WEATHER, name: "plan" }] })
    expect(beside.tools).toMatchObject([{ name: "plan" }, { name: "answer_plan" }])
    expect(beside).not.toHaveProperty("tool_choice")
  })

  test("LLM-030 LLM-031: markers stand where the request has them, and nothing else changes", async () => {
    const cached = await send({ ...marked, cacheTtl: "1h" })
    const cache_control = { type: "ephemeral", ttl: "1h" }
    expect(cached).toMatchObject({
      system: [{ text: "Persona.", cache_control }, { text: "Volatile." }],
      messages: [
        { content: [{ text: "first", cache_control }] },
        { content: [{ text: "reply" }] },
        { content: [{ text: "second", cache_control }, { text: "[state] noon" }] },
      ],
    })
    expect(JSON.stringify(cached).match(/cache_control/g)).toHaveLength(3)
    expect(withoutMarkers(cached)).toEqual(await send(marked))
    expect(JSON.stringify(await send({ ...marked, cacheTtl: "5m" }))).not.toContain("ttl")
  })

  test("of too many markers the system's and the last ones stay", async () => {
    const messages = ["a", "b", "c", "d", "e", "f"].map((text, at) => ({
      role: at % 2 ? ("assistant" as const) : ("user" as const),
      blocks: [{ type: "text" as const, text }],
      cacheMark: 1,
    }))
    const body = await send({ ...marked, messages, cacheTtl: "5m" })
    const cache_control = { type: "ephemeral" }
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4)
    expect(body).toMatchObject({
      system: [{ cache_control }, {}],
      messages: [
        {},
        {},
        {},
        ...["d", "e", "f"].map((text) => ({ content: [{ text, cache_control }] })),
      ],
    })
  })

  test("LLM-034: pictures go as bytes, or as a mark when the model cannot see them", async () => {
    const image = { type: "image" as const, id: "p1", media_type: "image/png" }
    const messages = [
      { role: "user" as const, blocks: [image] },
      { role: "assistant" as const, blocks: [image] },
      { role: "user" as const, blocks: [{ type: "text" as const, text: "more" }] },
    ]
    expect((await send({ messages })).messages).toMatchObject([
      { content: [{ type: "text", text: "[image p1 — this model cannot see it]" }] },
      { content: [{ type: "text", text: "[image p1]" }] },
      {},
    ])
    const seeing = await send({ messages, images: new Map([["p1", PICTURE]]) })
    expect(seeing.messages).toMatchObject([
      {
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
        ],
      },
      { content: [{ type: "text", text: "[image p1]" }] },
      {},
    ])
  })

  test("arguments that were no object leave as an empty one", async () => {
    const call = { type: "tool_use" as const, id: "c", name: "t", input: {}, raw: "{bro" }
    const messages = [
      { role: "user" as const, blocks: [{ type: "text" as const, text: "go" }] },
      { role: "assistant" as const, blocks: [call] },
      {
        role: "user" as const,
        blocks: [{ type: "tool_result" as const, id: "c", output: "bad JSON", is_error: true }],
      },
    ]
    expect((await send({ messages })).messages).toMatchObject([
      {},
      { content: [{ type: "tool_use", input: {} }] },
      {},
    ])
  })
})
