/** One file of the tools folder: an external tool as its author wrote it down. */
import { type Static, Type } from "@sinclair/typebox"
import { parseDuration } from "../lib/duration.ts"
import { isObject } from "../lib/json.ts"
import type { ToolGate } from "../schema/tool-spec.ts"
import { complaintsAbout } from "../tools/arguments.ts"
import { TOOL_NAME } from "../tools/registry.ts"

export const DEFAULT_TIMEOUT_MS = 30_000
export const TIMEOUT_MAX_MS = 3_600_000
const DESCRIPTION_CHARS_MAX = 20_000

export const ExternalToolFile = Type.Object(
  {
    name: Type.String({ pattern: TOOL_NAME.source, description: "The name the model calls it by" }),
    description: Type.String({
      minLength: 1,
      maxLength: DESCRIPTION_CHARS_MAX,
      description: "What it does, for the model",
    }),
    command: Type.Array(Type.String(), {
      minItems: 1,
      description: "Program and arguments; a path with a slash starts at the file's own folder",
    }),
    timeout: Type.Optional(
      Type.String({ description: "Longest run, such as 30s (default) or 5m; at most 1h" }),
    ),
    access: Type.Optional(
      Type.Union([Type.Literal("master"), Type.Literal("allowed"), Type.Literal("everyone")], {
        description: "Whose turns may call it: master (default), allowed users, everyone",
      }),
    ),
    group: Type.Optional(
      Type.String({ minLength: 1, description: "Its group in access lists; ext when absent" }),
    ),
    icon: Type.Optional(Type.String({ description: "An emoji for the feed" })),
    brief: Type.Optional(Type.String({ description: "One line for the feed: {from} → {to}" })),
    quiet: Type.Optional(Type.Boolean({ description: "Not an event in messenger feeds" })),
    input_schema: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "JSON Schema of the input" }),
    ),
  },
  { additionalProperties: false },
)
export type ExternalToolFile = Static<typeof ExternalToolFile>

export const ACCESS_GATES: Record<NonNullable<ExternalToolFile["access"]>, readonly ToolGate[]> = {
  master: ["master_only"],
  allowed: ["privileged_only"],
  everyone: [],
}

export interface Declaration extends ExternalToolFile {
  input_schema: Record<string, unknown>
  timeoutMs: number
}

/**
 * The declaration in a parsed TOML table.
 * @throws Error that says what is wrong and what would be right
 */
export async function readDeclaration(table: unknown): Promise<Declaration> {
  const complaints = await complaintsAbout(table, ExternalToolFile)
  if (complaints.length > 0) throw new Error(complaints.join("; "))
  const file = table as ExternalToolFile
  return { ...file, input_schema: await readInputSchema(file), timeoutMs: readTimeout(file) }
}

function readTimeout({ timeout }: ExternalToolFile): number {
  if (timeout === undefined) return DEFAULT_TIMEOUT_MS
  const ms = parseDuration(timeout)
  if (ms === undefined || ms < 1 || ms > TIMEOUT_MAX_MS) {
    throw new Error(`"timeout" is a duration such as 30s or 5m, at most 1h; it is "${timeout}"`)
  }
  return ms
}

/** Tried once, so that a schema nobody can check against shows at the start and not in a call. */
async function readInputSchema(file: ExternalToolFile): Promise<Record<string, unknown>> {
  const schema = { type: "object", ...file.input_schema }
  if (schema.type !== "object") {
    throw new Error(`"input_schema.type" must be "object"; it is ${JSON.stringify(schema.type)}`)
  }
  try {
    await complaintsAbout(sampleOf(schema), schema)
  } catch (error) {
    throw new Error('"input_schema" is no usable JSON Schema', { cause: error })
  }
  return schema
}

/** An input with every field set: a check of it visits every field's schema. */
function sampleOf(schema: Record<string, unknown>): Record<string, unknown> {
  const fields = isObject(schema.properties) ? Object.keys(schema.properties) : []
  return Object.fromEntries(fields.map((field) => [field, ""]))
}
