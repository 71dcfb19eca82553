/**
 * Client operations: what the kernel asks of the machine that a client sits at, and how the client answers.
 * The actions are primitives on purpose: edits, patches and searches are composed by the kernel.
 */
import { type Static, Type } from "@sinclair/typebox"

/** What a user may answer to an operation. A client draws those it knows and skips the rest. */
export const OP_DECISIONS = ["allow", "allow_session", "allow_always", "deny"] as const
export type OpDecision = (typeof OP_DECISIONS)[number]

const path = Type.String({
  description: "Relative paths count from `cwd`, a leading ~ is the home",
})
const base64 = Type.String({ description: "Bytes in base64" })
const byteCount = Type.Integer({ minimum: 0 })

/** Each action with its fields; the description says what a success answers. */
export const CLIENT_ACTIONS = {
  read: Type.Object(
    { action: Type.Literal("read"), path },
    { description: "The whole text of a file" },
  ),
  write: Type.Object(
    {
      action: Type.Literal("write"),
      path,
      content: Type.String({ description: "The whole new text, written as UTF-8" }),
      expect_sha256: Type.Optional(
        Type.Union([Type.String(), Type.Null()], {
          description:
            "SHA-256 (hex) of the file's bytes that this text was made from, null when it must not exist yet; a file that differs is left alone and the answer is an error",
        }),
      ),
    },
    { description: "A sentence that says what was written" },
  ),
  shell: Type.Object(
    {
      action: Type.Literal("shell"),
      command: Type.Union([Type.String(), Type.Array(Type.String())]),
      timeout_ms: Type.Integer({ minimum: 1 }),
    },
    { description: "The output; commands of a list run in order up to the first failure" },
  ),
  read_bytes: Type.Object(
    { action: Type.Literal("read_bytes"), path, offset: byteCount, size: byteCount },
    { description: 'JSON `{"total", "data"}`' },
  ),
  write_bytes: Type.Object(
    {
      action: Type.Literal("write_bytes"),
      path,
      offset: byteCount,
      data: base64,
      truncate: Type.Boolean({ description: "The file ends behind these bytes" }),
      expect_sha256: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    },
    { description: 'JSON `{"total"}`' },
  ),
  find_bytes: Type.Object(
    {
      action: Type.Literal("find_bytes"),
      path,
      data: base64,
      offset: byteCount,
      limit: Type.Integer({ minimum: 1 }),
    },
    {
      description:
        'JSON `{"total", "offsets"}`. 32 MiB from the offset are looked through; the kernel asks again for the rest',
    },
  ),
  list_up: Type.Object(
    { action: Type.Literal("list_up"), path, names: Type.Array(Type.String()) },
    {
      description:
        'JSON `{"dirs": [{"dir", "found": […]}]}`, from the path upward. Never asked about: it has no `decisions`',
    },
  ),
} as const

export type ClientAction = keyof typeof CLIENT_ACTIONS

/** Every field that some action has, as events and items carry them, flat beside `action`. */
export const CLIENT_OP_FIELDS = {
  action: Type.Unsafe<ClientAction>(
    Type.Union(Object.keys(CLIENT_ACTIONS).map((action) => Type.Literal(action))),
  ),
  path: Type.Optional(path),
  content: Type.Optional(Type.String()),
  command: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  timeout_ms: Type.Optional(Type.Integer()),
  offset: Type.Optional(byteCount),
  size: Type.Optional(byteCount),
  data: Type.Optional(base64),
  truncate: Type.Optional(Type.Boolean()),
  limit: Type.Optional(Type.Integer()),
  names: Type.Optional(Type.Array(Type.String())),
  expect_sha256: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  cwd: Type.Optional(
    Type.String({
      description: "The chat's working folder on this machine; absent: the chat has none here",
    }),
  ),
  agent: Type.Optional(
    Type.String({ description: "The sub-agent that asks, to be shown to whoever decides" }),
  ),
  decisions: Type.Optional(
    Type.Array(Type.String(), {
      description: "What may be answered; absent when nobody is to be asked",
    }),
  ),
}

/** One operation without its envelope. */
export type ClientOp = {
  [A in ClientAction]: Static<(typeof CLIENT_ACTIONS)[A]>
}[ClientAction]

/** How long an operation other than `shell` may take, the user's decision included. */
export const OP_TIMEOUT_MS = 300_000

/** The error of a client that does not know an action; there is no other negotiation. */
export const UNKNOWN_OP_ACTION = "unknown op action"

export const OpResult = Type.Object(
  {
    id: Type.String({
      description: "The `op_id` of the operation, or the id of an extra tool's call",
    }),
    output: Type.Optional(Type.String()),
    error: Type.Optional(Type.String({ description: "Why it could not be done" })),
    decision: Type.Optional(
      Type.String({ description: "What the user chose; `deny` without `error` is a refusal" }),
    ),
    blocks: Type.Optional(
      Type.Array(Type.Object({ title: Type.String(), content: Type.String() }), {
        description: "Sections in place of `output`",
      }),
    ),
  },
  { additionalProperties: false },
)
export type OpResult = Static<typeof OpResult>

export const OpProgress = Type.Object(
  {
    id: Type.String(),
    output: Type.String({ description: "The whole snapshot; it replaces the one before" }),
  },
  { additionalProperties: false },
)
export type OpProgress = Static<typeof OpProgress>

/** What was answered. */
export const Taken = Type.Object({ id: Type.String() })

/** Bytes of one piece: at the most, since it travels as one message, and when nothing is said. */
export const PIECE_BYTES_MAX = 8 * 1024 * 1024
export const PIECE_BYTES = 65_536

/** So much of a file is looked through by one `find_bytes`, and by one search for a pattern. */
export const FIND_BYTES_MAX = 32 * 1024 * 1024

export const ReadBytes = Type.Object(
  {
    path: Type.String({ minLength: 1 }),
    offset: Type.Optional(byteCount),
    size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: PIECE_BYTES_MAX, default: PIECE_BYTES }),
    ),
  },
  { additionalProperties: false },
)
export type ReadBytes = Static<typeof ReadBytes>

export const BytesPiece = Type.Object({
  total: Type.Integer({ minimum: 0, description: "Bytes of the whole file" }),
  data: Type.String({ description: "Bytes in base64" }),
})
export type BytesPiece = Static<typeof BytesPiece>
