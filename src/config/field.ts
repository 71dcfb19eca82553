/**
 * The kinds of setting that a section schema is made of. A schema describes the resolved value (durations in
 * milliseconds, paths absolute); what may be written in a file instead is told by `kind`, see convert.ts.
 */
import { type SchemaOptions, type TSchema, type TUnsafe, Type } from "@sinclair/typebox"
import { EFFORT_LEVELS, type Effort } from "../schema/effort.ts"

/** A resolved duration. Written in files as humantime: `5s`, `1m`, `7days`, `1h 30m`. */
export type Milliseconds = number
/** A resolved size. Written in files as a number of bytes or as `16 KiB`, `5 MiB`. */
export type Bytes = number

export type FieldKind =
  | "duration"
  | "size"
  | "path"
  | "url"
  | "origin"
  | "listen"
  | "zone"
  | "time"
  | "pattern"
  | "effort"

export interface FieldOptions {
  /** As it would be written in a file. */
  default?: unknown
  /** A value for the generated example, where there is no default. */
  example?: unknown
  /** What an unset optional field means, for the reference. */
  unset?: string
  /** Never shown outside: blanked in the snapshot, masked in logs. */
  secret?: boolean
  /** Added to the error when the value has the wrong type. */
  hint?: string
  /** For a path with a default: the directory that the default is relative to. */
  beside?: "config" | "database"
  /** The generated example holds this field uncommented. */
  shown?: boolean
}

/** A schema node as this room reads it. */
export type Field = TSchema & FieldOptions & { kind?: FieldKind }

export const text = (description: string, options: FieldOptions = {}) =>
  Type.String({ description, minLength: 1, ...options })

export const secret = (description: string, options: FieldOptions = {}) =>
  text(description, { ...options, secret: true })

export const flag = (description: string, options: FieldOptions = {}) =>
  Type.Boolean({ description, ...options })

export const whole = (description: string, options: FieldOptions & { minimum?: number } = {}) =>
  Type.Integer({ description, minimum: 0, ...options })

export const decimal = (
  description: string,
  options: FieldOptions & { minimum?: number; maximum?: number } = {},
) => Type.Number({ description, minimum: 0, ...options })

export const duration = (description: string, options: FieldOptions = {}): TUnsafe<Milliseconds> =>
  Type.Unsafe<Milliseconds>(
    Type.Number({ description, minimum: 0, kind: "duration", ...options } as SchemaOptions),
  )

export const size = (description: string, options: FieldOptions = {}): TUnsafe<Bytes> =>
  Type.Unsafe<Bytes>(
    Type.Integer({ description, minimum: 0, kind: "size", ...options } as SchemaOptions),
  )

/** Text of a special form: its `kind` is checked and brought to its resolved form by convert.ts. */
export const textOf = (
  kind: Exclude<FieldKind, "duration" | "size" | "effort">,
  description: string,
  options: FieldOptions = {},
) => Type.String({ description, minLength: 1, kind, ...options })

export const choice = <const T extends readonly string[]>(
  description: string,
  values: T,
  options: FieldOptions = {},
): TUnsafe<T[number]> =>
  Type.Unsafe<T[number]>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description, ...options } as SchemaOptions,
    ),
  )

export const effort = (description: string, options: FieldOptions = {}): TUnsafe<Effort> =>
  Type.Unsafe<Effort>(
    Type.Union(
      EFFORT_LEVELS.map((level) => Type.Literal(level)),
      { description, kind: "effort", ...options } as SchemaOptions,
    ),
  )

export const list = <T extends TSchema>(
  description: string,
  item: T,
  options: FieldOptions = { default: [] },
) => Type.Array(item, { description, ...options })

/** The values of a choice field. */
export const choicesOf = (field: Field): string[] | undefined =>
  (field.anyOf as { const?: string }[] | undefined)?.map((literal) => String(literal.const))

/** The named fields of a mapping; undefined for any other field. */
export const propertiesOf = (field: Field): Record<string, Field> | undefined =>
  field.properties as Record<string, Field> | undefined

/** The field under every name of a record such as `llm.providers`; undefined for any other field. */
export const recordOf = (field: Field): Field | undefined =>
  Object.values((field.patternProperties ?? {}) as Record<string, Field>)[0]
