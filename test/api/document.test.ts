/** The OpenAPI document: valid, whole, and the same as what is really sent. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { type Schema, Validator as SchemaValidator } from "@cfworker/json-schema"
import { Validator } from "@seriousme/openapi-schema-validator"
import type { TSchema } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { CHAT_EVENTS, TURN_EVENTS } from "../../src/schema/event.ts"
import { plan } from "../support/kernel.ts"
import { replyCheck } from "./reply-check.ts"
import { type TestApi, testApi } from "./support.ts"

let api: TestApi
beforeEach(async () => {
  api = await testApi({ parts: { build: { version: "0.0.0", commit: "test" } } })
})
afterEach(() => api.dispose())

const documentOf = async () => (await api.call("GET /v1/openapi.json")).json

test("it is a valid OpenAPI 3.1 document", async () => {
  const validator = new Validator()
  expect(await validator.validate(await documentOf())).toEqual({ valid: true })
  expect(validator.version).toBe("3.1")
})

test("it stays as it is until somebody means to change the API", async () => {
  expect(await documentOf()).toMatchSnapshot()
})

test("API-002 SRV-005: every route stands in it, described, with its body and its failures", async () => {
  const document = await documentOf()
  for (const { method, path, hooks } of api.api.routes.routes) {
    const operation = document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()]
    expect([method, path, operation?.summary]).toEqual([method, path, expect.any(String)])
    expect(operation.responses["401"].content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/Problem",
    })
    expect(operation.requestBody !== undefined).toBe(hooks?.body !== undefined)
    expect(Object.keys(operation.requestBody?.content ?? {})).toEqual(
      hooks?.body ? ["application/json"] : [],
    )
  }
  const count = Object.values(document.paths as object).flatMap((path) => Object.keys(path)).length
  expect(count).toBe(api.api.routes.routes.length)
})

test("the example of every body fits its schema", async () => {
  const document = await documentOf()
  for (const { method, path, hooks } of api.api.routes.routes) {
    if (!hooks?.body) continue
    const operation = document.paths[path.replaceAll(/:(\w+)/g, "{$1}")][method.toLowerCase()]
    const { example } = operation.requestBody.content["application/json"]
    expect([path, example]).toEqual([path, expect.any(Object)])
    expect([path, [...Value.Errors(hooks.body as TSchema, example)]]).toEqual([path, []])
  }
})

test("SRV-005: every event of the streams is listed with its words", async () => {
  const document = await documentOf()
  const send = document.paths["/v1/chats/{id}/messages"].post
  const refs = send.responses["200"].content["text/event-stream"].schema.oneOf
  expect(refs).toHaveLength(Object.keys(TURN_EVENTS).length)
  for (const [type, { description }] of Object.entries(TURN_EVENTS)) {
    expect(send.description).toContain(`\`${type}\`: ${description}`)
  }
  const feed = document.paths["/v1/feed"].get.responses["200"].content["text/event-stream"].schema
  const kinds = new Set([...Object.keys(TURN_EVENTS), ...Object.keys(CHAT_EVENTS)])
  expect(feed.oneOf).toHaveLength(kinds.size + 1)
})

test("events on the wire fit the components that describe them", async () => {
  const document = await documentOf()
  const schema = document.paths["/v1/feed"].get.responses["200"].content["text/event-stream"].schema
  const whole = { ...schema, components: document.components } as Schema
  const validator = new SchemaValidator(whole, "2020-12")
  const feed = await api.open("GET /v1/feed")
  const chat = await api.newChat()
  const steps = [{ think: "hm", call: "person_list", input: {} }, { say: "nobody" }]
  await api.kernel.turn(chat, plan(steps))
  await api.kernel.turn(chat, plan([{ fail: "refused" }]))
  await api.call(`POST /v1/chats/${chat}/messages`, { silent: true, text: "psst" })
  await api.call(`DELETE /v1/chats/${chat}`)
  await feed.next("chat_deleted")
  await feed.leave()
  const events = feed.seen.flatMap(({ data }) => (data === undefined ? [] : [data]))
  expect(events.length).toBeGreaterThan(15)
  for (const event of events) {
    const { errors } = validator.validate(event)
    expect([event.type, errors.map(({ error }) => error)]).toEqual([event.type, []])
  }
})

test("a reply that is not as documented would fail these tests", async () => {
  const complaints = replyCheck(await documentOf())
  const health = { status: "ok", version: "1", commit: "x" }
  expect(complaints("GET /health", 200, health)).toEqual([])
  expect(complaints("GET /health", 200, { ...health, more: 1 })).not.toEqual([])
  expect(complaints("GET /health", 200, {})).not.toEqual([])
  expect(complaints("GET /health", 418, health)).toHaveLength(1)
})
