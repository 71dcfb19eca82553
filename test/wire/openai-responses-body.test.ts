/** What leaves on the Responses wire, read back from the server that got it. */
import { describe, expect, test } from "bun:test"
import type { ThinkingBlock } from "../../src/schema/message.ts"
import { PICTURE, toolTurn, untidy, WEATHER } from "./histories.ts"
import { sentBody } from "./support.ts"

const OPENAI = { baseUrl: "https://api.openai.com/v1" }
const send = (
  request: Parameters<typeof sentBody>[1],
  options: Parameters<typeof sentBody>[2] = {},
) => sentBody("openai-responses", request, options)

const thought: ThinkingBlock = {
  type: "thinking",
  text: "Two cities.",
  signature: "rs_1",
  redacted: "gAAA",
  provider: "openai-responses",
  model: "m",
}

describe("openai responses body", () => {
  test("a plain request keeps nothing at the upstream", async () => {
    expect(await send({ maxTokens: 100, temperature: 0.5 })).toEqual({
      model: "m",
      instructions: "Be brief.",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] }],
      stream: true,
      store: false,
      max_output_tokens: 100,
      temperature: 0.5,
    })
  })

  test("thoughts go back encrypted and before what grew out of them, those of others never", async () => {
    const thoughts = [thought, { ...thought, model: "x" }, { ...thought, provider: "openai" }]
    const body = await send({ messages: toolTurn(thoughts), tools: [WEATHER] })
    expect(body.input).toEqual([
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "weather in Rome and Oslo?" }],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Two cities." }],
        encrypted_content: "gAAA",
      },
      { type: "message", role: "assistant", content: "Looking." },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Rome"}' },
      { type: "function_call", call_id: "call_2", name: "weather", arguments: '{"city":"Oslo"}' },
      { type: "function_call_output", call_id: "call_1", output: "sunny" },
      { type: "function_call_output", call_id: "call_2", output: "" },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "[state] it is noon" }],
      },
    ])
  })

  test("LLM-022 LLM-023 TOOL-42: calls may be parallel, one tool may be forced", async () => {
    const body = await send({ tools: [WEATHER], toolChoice: { name: "weather" } })
    expect(body).toMatchObject({
      tools: [{ type: "function", name: "weather", parameters: WEATHER.input_schema }],
      parallel_tool_calls: true,
      tool_choice: { type: "function", name: "weather" },
    })
  })

  test("a thinking model is asked for its encrypted thought, another one is not", async () => {
    const request = { model: "gpt-5.2", effort: "high" as const, temperature: 0, sessionKey: "c" }
    const { input, instructions, ...body } = await send(request, OPENAI)
    expect(body).toEqual({
      model: "gpt-5.2",
      stream: true,
      store: false,
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "c",
    })
    expect(await send({ model: "gpt-5.2", effort: "off" }, OPENAI)).toMatchObject({
      reasoning: { effort: "none" },
    })
    expect(await send({ model: "gpt-4o", effort: "high" }, OPENAI)).not.toHaveProperty("reasoning")
  })

  test("an answer schema and pictures take the wire's own forms", async () => {
    const answerSchema = { name: "plan", schema: { type: "object" }, strict: true }
    expect(await send({ answerSchema }, { structuredOutput: true })).toMatchObject({
      text: { format: { type: "json_schema", ...answerSchema } },
    })
    const image = { type: "image" as const, id: "p1", media_type: "image/png" }
    const seeing = await send({
      messages: [{ role: "user", blocks: [image] }],
      images: new Map([["p1", PICTURE]]),
    })
    expect(seeing.input).toMatchObject([
      { content: [{ type: "input_image", image_url: "data:image/png;base64,aGk=" }] },
    ])
    expect(await send({ imageOutput: true })).toMatchObject({
      tools: [{ type: "image_generation" }],
    })
  })

  test("nothing empty leaves and turns alternate", async () => {
    const body = await send({ system: [], messages: untidy })
    expect(body).not.toHaveProperty("instructions")
    expect(body.input).toMatchObject([
      { role: "user", content: [{ text: "one" }, { text: "two�" }] },
      { role: "assistant", content: "fine" },
      { role: "user", content: [{ text: "three" }] },
    ])
  })
})
