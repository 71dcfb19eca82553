/**
 * The OpenAPI document, generated from the routes when somebody first asks for it. The swagger plugin reads
 * the routes; what it cannot say (OpenAPI 3.1, JSON as the only body, shared components) is added here.
 */
import type { TSchema } from "@sinclair/typebox"
import type { AnyElysia } from "elysia"
import { isObject } from "../lib/json.ts"
import { Chat, ChatList } from "../schema/chat.ts"
import { Item, ItemPage } from "../schema/item.ts"
import { ArchivedMemory, Memory, MemoryHit, PromptLine, ScoreParts } from "../schema/memory.ts"
import { Message, MessagePage } from "../schema/message.ts"
import { Person } from "../schema/person.ts"
import { Problem } from "../schema/problem.ts"
import { Send } from "../schema/send.ts"
import { SpendTotals, Stats, StatsWindow } from "../schema/stats.ts"
import { EXAMPLE, TAGS } from "./describe.ts"
import { EVENT_COMPONENTS } from "./event-schemas.ts"

/** Schemas that the document names once and refers to. */
const COMPONENTS: Readonly<Record<string, TSchema>> = {
  ...{ Chat, ChatList, Message, MessagePage, Item, ItemPage, Person, Problem, Send },
  ...{ SpendTotals, Stats, StatsWindow },
  ...{ Memory, MemoryHit, ScoreParts, ArchivedMemory, PromptLine },
  ...EVENT_COMPONENTS,
}

const DESCRIPTION = `A home for one person's AI agent. A message goes in, a stream of events comes out.

Every error is \`{ error, code, path? }\`: a sentence for people, a stable word for programs, the field that is wrong.
A body must be \`application/json\`; one that is not JSON or does not fit its schema is 422, a value that fits and cannot be used is 400.
Every reply bears \`X-Eva-Version\`.`

const SPEC_PATH = "/spec"

type Document = Record<string, unknown> & { paths: Record<string, Record<string, Operation>> }
type Operation = Record<string, unknown>

/** The document as JSON text. */
export async function openApiDocument(routes: AnyElysia, version: string): Promise<string> {
  const { Elysia } = await import("elysia")
  const { swagger } = await import("@elysiajs/swagger")
  const plugin = swagger({ path: "/page", specPath: SPEC_PATH, excludeStaticFile: false })
  const generator = new Elysia().use(plugin).use(routes)
  // Called, not fetched: the document must keep the identity of the schemas.
  const specRoute = generator.routes.find((route) => route.path === SPEC_PATH)
  const handler = specRoute?.handler as (context: unknown) => Document
  const document = handler({})
  completeOperations(document, routes)
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "eva-kernel", version, description: DESCRIPTION },
    servers: [{ url: "/" }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }, { header: [] }, {}],
    paths: withReferences(document.paths),
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "server.token, when it is set" },
        header: { type: "apiKey", in: "header", name: "X-Eva-Token" },
      },
      schemas: Object.fromEntries(
        Object.entries(COMPONENTS).map(([name, schema]) => [name, withReferences(schema, schema)]),
      ),
    },
  })
}

/** The plugin takes a body for JSON, a form or text, and always for needed; here it is JSON. */
function completeOperations(document: Document, routes: AnyElysia): void {
  for (const route of routes.routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}")
    const operation = document.paths[path]?.[route.method.toLowerCase()]
    const body = route.hooks?.body as TSchema | undefined
    if (!operation || !body) continue
    operation.requestBody = {
      required: Boolean(body.required?.length || body.minProperties),
      content: { "application/json": { schema: body, example: operation[EXAMPLE] } },
    }
    delete operation[EXAMPLE]
  }
}

const NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]),
)

/** A copy in which every schema that is a component is a reference to it. `self` is the one being copied. */
function withReferences(node: unknown, self?: unknown): unknown {
  const name = node === self ? undefined : NAMES.get(node)
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
  if (Array.isArray(node)) return node.map((inner) => withReferences(inner))
  if (!isObject(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, inner]) => [key, withReferences(inner)]),
  )
}
