/** Holds every reply of a test against the OpenAPI document: what is not documented must not be sent. */
import { type Schema, Validator } from "@cfworker/json-schema"
import { isObject } from "../../src/lib/json.ts"

export interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Content }> }>>
  components: { schemas: Record<string, Schema> }
}
type Content = Record<string, { schema?: Schema }>

/** Complaints about one reply; none when it is as documented. */
export type ReplyCheck = (route: string, status: number, json: unknown) => string[]

export function replyCheck(document: OpenApi): ReplyCheck {
  const strict = closed(document) as OpenApi
  const validators = new Map<Schema, Validator>()
  const validatorOf = (schema: Schema): Validator => {
    const known = validators.get(schema)
    if (known) return known
    const whole = { ...schema, components: strict.components } as Schema
    const validator = new Validator(whole, "2020-12", false)
    validators.set(schema, validator)
    return validator
  }
  return (route, status, json) => {
    const [method, address] = route.split(" ") as [string, string]
    const path = address.split("?", 1)[0]!.replace(/(.)\/$/, "$1")
    const pattern = Object.keys(strict.paths)
      .filter((known) => new RegExp(`^${known.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path))
      .sort((a, b) => a.split("{").length - b.split("{").length)[0]
    const operation = pattern && strict.paths[pattern]?.[method.toLowerCase()]
    if (!operation) return []
    const reply = operation.responses[String(status)]
    if (!reply) return [`${route} answers ${status}, which is not documented`]
    const schema = reply.content?.["application/json"]?.schema
    if (json === undefined || !schema) return []
    const { errors } = validatorOf(schema).validate(json)
    return errors.map((error) => `${route} ${status} ${error.instanceLocation}: ${error.error}`)
  }
}

/** The same schemas without room for fields that they do not name. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (!isObject(node)) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, closed(inner)]))
  const isOpen = isObject(node.properties) && node.type === "object" && !node.patternProperties
  return isOpen && node.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}
