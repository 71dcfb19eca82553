/** The part of a route that is documentation: what it does, what it answers, how it fails. */
import type { TObject, TSchema } from "@sinclair/typebox"
import type { DocumentDecoration } from "elysia"
import { Problem } from "../schema/problem.ts"
import { PROBLEM_STATUS, type ProblemCode } from "./problem.ts"

export const TAGS = {
  chats: "Chats: where conversations live and how they are set up",
  messages: "What was said, and saying something",
  turns: "Running turns: follow, list, cancel",
  requests: "What the kernel asks of a client, answered",
  persons: "Who speaks",
  memories: "What is kept between chats",
  kernel: "Models, tools, settings and statistics",
  pages: "For people and for other programs",
} as const

export interface Answer {
  description: string
  /** Absent: the reply has no body. */
  schema?: TSchema
  /** `application/json` when absent. */
  type?: string
}

export interface Description {
  tag: keyof typeof TAGS
  summary: string
  description?: string
  /** A body that works as it stands, where a route takes one: what a reader of the page sends first. */
  example?: object
  /** By status. */
  answers: Readonly<Record<number, Answer>>
  /** What this route refuses beside what every route may. */
  problems?: readonly ProblemCode[]
}

/** Where the example waits until the document puts it beside the schema of the body. */
export const EXAMPLE = "x-example"

/** What every route may answer, whatever it is for. */
const COMMON: readonly ProblemCode[] = ["unauthorized", "forbidden", "internal"]

const PROBLEM_TEXT: Readonly<Partial<Record<ProblemCode, string>>> = {
  invalid: "Understood, and it cannot be done as asked",
  unauthorized: "No token, or a wrong one",
  forbidden: "The door refuses: a foreign Host, or a page of another site",
  not_found: "There is no such thing",
  conflict: "Its state forbids it",
  too_large: "The body is over server.body_max",
  unprocessable: "The body is not JSON or does not fit its schema",
  busy: "Too much waits already; try again later",
  internal: "A fault of the kernel; its log says more",
  unavailable: "It cannot be served now; try again",
}

export function describe(route: Description): DocumentDecoration {
  const problems = [...(route.problems ?? []), ...COMMON].map((code) => [
    PROBLEM_STATUS[code],
    content({ description: PROBLEM_TEXT[code] ?? code, schema: Problem }),
  ])
  const answers = Object.entries(route.answers).map(([status, answer]) => [status, content(answer)])
  const responses: unknown = Object.fromEntries([...answers, ...problems])
  return {
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(route.example !== undefined && { [EXAMPLE]: route.example }),
    // TypeBox schemas are JSON Schemas; the types of OpenAPI do not know that.
    responses: responses as NonNullable<DocumentDecoration["responses"]>,
  }
}

function content({ description, schema, type = "application/json" }: Answer) {
  return schema === undefined ? { description } : { description, content: { [type]: { schema } } }
}

/** A reply of JSON. */
export const json = (schema: TSchema, description = "Done"): Answer => ({ description, schema })

/**
 * The query of a route. Everything in an address is text: numbers are read before the check, and what is no
 * number stays text and fails it.
 */
export const takesQuery = <T extends TObject>(query: T) => ({
  query,
  transform: (context: { query: Record<string, unknown> }) => {
    for (const [name, { type }] of Object.entries(query.properties)) {
      const text = context.query[name]
      const isNumber = typeof text === "string" && /^-?\d{1,16}$/.test(text)
      if (type === "integer" && isNumber) context.query[name] = Number(text)
    }
  },
})
