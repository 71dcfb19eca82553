/**
 * A JSON answer on a wire that knows no schemas for answers: a tool that nobody runs, whose arguments are the
 * answer. Pure.
 */
import { isObject, tryParseJson } from "../lib/json.ts"
import { wireName } from "./conversation.ts"
import type { ModelRequest } from "./provider.ts"

export interface AnswerTool {
  name: string
  schema: Record<string, unknown>
  /** The answer is no object, so it travels as the only property of one. */
  wrapped: boolean
}

const WRAPPER = "value"

/** The tool that stands for the request's answer schema; undefined without one. */
export function answerTool(request: ModelRequest): AnswerTool | undefined {
  if (!request.answerSchema) return undefined
  const { schema } = request.answerSchema
  const taken = new Set(request.tools.map((tool) => wireName(tool.name)))
  let name = wireName(request.answerSchema.name)
  while (taken.has(name)) name = wireName(`answer_${name}`)
  if (schema.type === "object") return { name, schema, wrapped: false }
  const properties = { [WRAPPER]: schema }
  return { name, wrapped: true, schema: { type: "object", properties, required: [WRAPPER] } }
}

/** The arguments as the answer's text; what is no JSON is given as it came. */
export function answerText(tool: AnswerTool, raw: string): string {
  if (!tool.wrapped) return raw
  const parsed = tryParseJson(raw)
  if (!parsed || !isObject(parsed.value) || !(WRAPPER in parsed.value)) return raw
  return JSON.stringify(parsed.value[WRAPPER])
}
