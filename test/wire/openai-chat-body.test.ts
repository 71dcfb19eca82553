/** What leaves on the Chat Completions wire, read back from the server that got it. */
import { describe, expect, test } from "bun:test"
import { marked, PICTURE, toolTurn, untidy, WEATHER, withoutMarkers } from "./histories.ts"
import { sentBody } from "./support.ts"

const OPENROUTER = { baseUrl: "https://openrouter.ai/api/v1" }
const chat = (
  request: Parameters<typeof sentBody>[1],
  options: Parameters<typeof sentBody>[2] = {},
) => sentBody("openai-chat", request, options)

describe("openai chat body", () => {
  test("a plain request is only what the standard has", async () => {
    expect(await chat({ maxTokens: 100, temperature: 0.5 })).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      temperature: 0.5,
    })
  })

  test("LLM-019: thoughts of this turn go back as reasoning beside the calls they led to", async () => {
    const thoughts = [
      { type: "thinking" as const, text: "Two cities.", provider: "openai", model: "m" },
      { type: "thinking" as const, text: "of another model", provider: "openai", model: "x" },
      { type: "thinking" as const, text: "of another wire", provider: "anthropic", model: "m" },
    ]
    const body = await chat({ messages: toolTurn(thoughts), tools: [WEATHER] })
    expect(body.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "weather in Rome and Oslo?" },
      {
        role: "assistant",
        content: "Looking.",
        reasoning: "Two cities.",
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "weather", arguments: '{"city":"Rome"}' },
          },
          {
            id: "call_2",
            type: "function",
            function: { name: "weather", arguments: '{"city":"Oslo"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "sunny" },
      { role: "tool", tool_call_id: "call_2", content: "(empty)" },
      { role: "user", content: "[state] it is noon" },
    ])
  })

  test("thoughts go back under the name that the upstream reads, or not at all", async () => {
    const thought = { type: "thinking" as const, text: "Hm.", provider: "openai", model: "m" }
    const assistant = async (baseUrl: string) => {
      const body = await chat({ messages: toolTurn([thought]) }, { baseUrl })
      return (body.messages as Record<string, unknown>[])[2]!
    }
    expect(await assistant("https://api.deepseek.com/v1")).toMatchObject({
      reasoning_content: "Hm.",
    })
    expect(Object.keys(await assistant("https://api.openai.com/v1")).sort()).toEqual([
      "content",
      "role",
      "tool_calls",
    ])
  })

  test("a gateway's signed record of a thought goes back as it came", async () => {
    const details = [{ type: "reasoning.encrypted", data: "gAAA", index: 0 }]
    const thought = { type: "thinking" as const, text: "", provider: "openai", model: "m" }
    const sealed = { ...thought, redacted: JSON.stringify(details) }
    const body = await chat({ messages: toolTurn([sealed]) }, OPENROUTER)
    expect((body.messages as unknown[])[2]).toMatchObject({ reasoning_details: details })
  })

  test("nothing empty leaves, turns alternate, half characters are gone", async () => {
    const body = await chat({ system: [{ text: " " }], messages: untidy })
    expect(body.messages).toEqual([
      { role: "user", content: "one\n\ntwo�" },
      { role: "assistant", content: "fine" },
      { role: "user", content: "three" },
    ])
  })

  test("LLM-022 LLM-023 TOOL-42: calls may be parallel, one tool may be forced, all may be forbidden", async () => {
    const tool = {
      type: "function",
      function: {
        name: "weather",
        description: WEATHER.description,
        parameters: WEATHER.input_schema,
      },
    }
    const free = await chat({ tools: [WEATHER] })
    expect(free).toMatchObject({ tools: [tool], parallel_tool_calls: true })
    expect(free).not.toHaveProperty("tool_choice")
    expect(await chat({ tools: [WEATHER], toolChoice: { name: "weather" } })).toMatchObject({
      tool_choice: { type: "function", function: { name: "weather" } },
    })
    expect(await chat({ tools: [WEATHER], toolChoice: "none" })).toMatchObject({
      tool_choice: "none",
    })
    expect(await chat({ toolChoice: "none" })).not.toHaveProperty("tool_choice")
  })

  test("LLM-016: a gateway that thinks by default is told aloud not to", async () => {
    expect(await chat({ effort: "off" }, OPENROUTER)).toMatchObject({
      reasoning: { enabled: false },
    })
    expect(await chat({ effort: "mid" }, OPENROUTER)).toMatchObject({
      reasoning: { effort: "medium" },
    })
    expect(await chat({ effort: "off" })).not.toHaveProperty("reasoning")
  })

  test("effort takes the form of each upstream", async () => {
    const fields = async (baseUrl: string, model: string, effort: "off" | "high") => {
      const { messages, stream, stream_options, ...rest } = await chat(
        { model, effort },
        { baseUrl },
      )
      return rest
    }
    const openai = "https://api.openai.com/v1"
    expect(await fields(openai, "gpt-5.2", "off")).toEqual({
      model: "gpt-5.2",
      reasoning_effort: "none",
    })
    expect(await fields(openai, "gpt-5-mini", "off")).toEqual({
      model: "gpt-5-mini",
      reasoning_effort: "minimal",
    })
    expect(await fields(openai, "gpt-4o", "high")).toEqual({ model: "gpt-4o" })
    expect(await fields("https://api.z.ai/api/paas/v4", "glm-5", "off")).toEqual({
      model: "glm-5",
      thinking: { type: "disabled" },
    })
    expect(await fields("http://localhost:11434/v1", "qwen3", "off")).toEqual({
      model: "qwen3",
      reasoning_effort: "none",
    })
    expect(await fields("http://localhost:8080/v1", "any", "high")).toEqual({
      model: "any",
      reasoning_effort: "high",
    })
  })

  test("OpenAI's own thinking models: their name for the limit, no temperature, a key for the cache", async () => {
    const request = {
      model: "gpt-5.2",
      maxTokens: 50,
      temperature: 0,
      sessionKey: "chat-1",
      effort: "low" as const,
    }
    const { messages, ...body } = await chat(request, { baseUrl: "https://api.openai.com/v1" })
    expect(body).toEqual({
      model: "gpt-5.2",
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 50,
      reasoning_effort: "low",
      prompt_cache_key: "chat-1",
    })
  })

  test("Mistral: no stream_options, and ids of nine letters that call and result share", async () => {
    const body = await chat({ messages: toolTurn([]) }, { baseUrl: "https://api.mistral.ai/v1" })
    expect(body).not.toHaveProperty("stream_options")
    const messages = body.messages as { tool_calls?: { id: string }[]; tool_call_id?: string }[]
    const ids = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id)
    expect(ids.every((id) => /^[a-zA-Z0-9]{9}$/.test(id))).toBe(true)
    expect(messages.flatMap((message) => message.tool_call_id ?? [])).toEqual(ids)
  })

  test("an answer schema leaves only where the upstream is said to know schemas", async () => {
    const answerSchema = { name: "plan", schema: { type: "object" }, strict: true }
    expect(await chat({ answerSchema })).not.toHaveProperty("response_format")
    expect(await chat({ answerSchema }, { structuredOutput: true })).toMatchObject({
      response_format: { type: "json_schema", json_schema: answerSchema },
    })
  })

  test("LLM-033: a drawing model is asked for pictures too", async () => {
    expect(await chat({ imageOutput: true })).toMatchObject({ modalities: ["image", "text"] })
    expect(await chat({})).not.toHaveProperty("modalities")
  })

  test("LLM-034: a picture that the model cannot see is a text mark in its place", async () => {
    const image = { type: "image" as const, id: "p1", media_type: "image/png" }
    const messages = [
      { role: "user" as const, blocks: [{ type: "text" as const, text: "see" }, image] },
    ]
    const blind = await chat({ messages })
    expect((blind.messages as unknown[])[1]).toEqual({
      role: "user",
      content: "see\n\n[image p1 — this model cannot see it]",
    })
    const seeing = await chat({ messages, images: new Map([["p1", PICTURE]]) })
    expect((seeing.messages as unknown[])[1]).toEqual({
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
      ],
    })
  })

  test("LLM-030 LLM-031: markers stand where the request has them, and nothing else changes", async () => {
    const cached = await chat({ ...marked, cacheTtl: "1h" }, OPENROUTER)
    const cache_control = { type: "ephemeral", ttl: "1h" }
    expect(cached.messages).toEqual([
      {
        role: "system",
        content: [
          { type: "text", text: "Persona.", cache_control },
          { type: "text", text: "Volatile." },
        ],
      },
      { role: "user", content: [{ type: "text", text: "first", cache_control }] },
      { role: "assistant", content: [{ type: "text", text: "reply" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "second", cache_control },
          { type: "text", text: "[state] noon" },
        ],
      },
    ])
    expect(withoutMarkers(cached)).toEqual(await chat(marked, OPENROUTER))
    // An upstream that knows no markers gets none.
    expect(await chat({ ...marked, cacheTtl: "1h" })).toEqual(await chat(marked))
  })

  test("names and repeated ids take a form that every upstream accepts", async () => {
    const call = { type: "tool_use" as const, id: "0", name: "a.b/c", input: {} }
    const result = { type: "tool_result" as const, id: "0", output: "x", is_error: false }
    const round = [
      { role: "assistant" as const, blocks: [call] },
      { role: "user" as const, blocks: [result] },
    ]
    const { messages } = await chat({ messages: [...round, ...round] })
    expect(messages).toMatchObject([
      {},
      { tool_calls: [{ id: "0", function: { name: "a_b_c" } }] },
      { tool_call_id: "0" },
      { tool_calls: [{ id: "0_2" }] },
      { tool_call_id: "0_2" },
    ])
  })
})
