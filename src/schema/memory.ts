/** A memory: what the agent keeps between chats, and how it is asked for, changed and explained. */
import { type Static, Type } from "@sinclair/typebox"

export const MEMORY_LIMITS = { content: 8000, source: 200, query: 20_000 } as const

export const MEMORY_KINDS = ["core", "fact", "event"] as const

export const MemoryKind = Type.Union(
  MEMORY_KINDS.map((kind) => Type.Literal(kind)),
  {
    description:
      "core: who the master is, always in the prompt; fact: holds for long; event: fades soon",
  },
) as unknown as ReturnType<typeof Type.Unsafe<(typeof MEMORY_KINDS)[number]>>
export type MemoryKind = (typeof MEMORY_KINDS)[number]

export const Importance = Type.Integer({ minimum: 1, maximum: 5, description: "1 … 5" })
const Content = Type.String({ minLength: 1, maxLength: MEMORY_LIMITS.content })
const Private = Type.Boolean({
  description: "Exists only in turns of the master's own from a trusted place",
})
const Instant = Type.String({ format: "date-time" })

export const Memory = Type.Object({
  id: Type.Integer(),
  kind: MemoryKind,
  importance: Importance,
  private: Private,
  content: Type.String(),
  source: Type.Union([Type.String(), Type.Null()], {
    description: "Where it came from: a chat, a file, a session",
  }),
  hits: Type.Integer({ description: "How often it was asked for or said again" }),
  created_at: Instant,
  updated_at: Instant,
  accessed_at: Type.String({ format: "date-time", description: "Its age counts from here" }),
})
export type Memory = Static<typeof Memory>

export const NewMemory = Type.Object(
  {
    content: Content,
    kind: Type.Optional(MemoryKind),
    importance: Type.Optional(Importance),
    private: Type.Optional(Private),
    source: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MEMORY_LIMITS.source,
        description:
          "A chat, a file, a session. Records of one source are each other's context, in the order they are stored",
      }),
    ),
    created_at: Type.Optional(
      Type.String({ format: "date-time", description: "When it was true; absent: now" }),
    ),
    dedup: Type.Optional(
      Type.Boolean({ description: "false stores it as it is: for imports. Default true" }),
    ),
  },
  { additionalProperties: false },
)
export type NewMemory = Static<typeof NewMemory>

export const SavedMemory = Type.Object({
  ...Memory.properties,
  merged: Type.Boolean({ description: "A record that says the same was reinforced instead" }),
  neighbours: Type.Array(Memory, { description: "Up to three records about the same" }),
})
export type SavedMemory = Static<typeof SavedMemory>

export const MemoryPatch = Type.Object(
  {
    content: Type.Optional(Content),
    kind: Type.Optional(MemoryKind),
    importance: Type.Optional(Importance),
    private: Type.Optional(Private),
  },
  { additionalProperties: false, minProperties: 1 },
)
export type MemoryPatch = Static<typeof MemoryPatch>

export const MemoryQuery = Type.Object({
  kind: Type.Optional(Type.String({ description: MEMORY_KINDS.join(", ") })),
  since_days: Type.Optional(Type.Integer({ minimum: 0, description: "Made in the last N days" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  before: Type.Optional(Type.Integer({ description: "The last id of the page before" })),
})
export type MemoryQuery = Static<typeof MemoryQuery>

export const MemoryList = Type.Object({
  memories: Type.Array(Memory, { description: "Newest first" }),
  next_before: Type.Union([Type.Integer(), Type.Null()], { description: "Of the next page" }),
})

/** The parts of a score: relevance × decay × importance × frequency. */
export const ScoreParts = Type.Object({
  relevance: Type.Number({ description: "0 … 1" }),
  lexical: Type.Number({ description: "Words in common, the best of all as 1" }),
  closeness: Type.Union([Type.Number(), Type.Null()], {
    description: "Of meaning, 0 … 1; null without an embedding model",
  }),
  context_only: Type.Boolean({ description: "Found through its neighbours in the source alone" }),
  decay: Type.Number({ description: "0.35 … 1, by age" }),
  importance: Type.Number({ description: "A third of the record's importance" }),
  frequency: Type.Number({ description: "1 … 1.5, by hits" }),
})
export type ScoreParts = Static<typeof ScoreParts>

export const MemoryHit = Type.Object({
  ...Memory.properties,
  score: Type.Number(),
  why: ScoreParts,
})
export type MemoryHit = Static<typeof MemoryHit>

export const MemorySearch = Type.Object({
  q: Type.String({ minLength: 1, maxLength: MEMORY_LIMITS.query }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 8 })),
  reinforce: Type.Optional(
    Type.String({ description: "false: the hits do not count as called to mind" }),
  ),
  public: Type.Optional(
    Type.String({ description: "true: as from outside a trusted place, without private records" }),
  ),
})
export type MemorySearch = Static<typeof MemorySearch>

export const MemoryHits = Type.Object({ memories: Type.Array(MemoryHit) })

export const ArchivedMemory = Type.Object({
  ...Memory.properties,
  archived_at: Instant,
  archived_by: Type.String({ description: "tool, api, sleep" }),
  reason: Type.Union([Type.String(), Type.Null()]),
})
export type ArchivedMemory = Static<typeof ArchivedMemory>

export const ArchiveQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
})

export const MemoryArchive = Type.Object({
  memories: Type.Array(ArchivedMemory, { description: "Last forgotten first" }),
})

export const PromptQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: MEMORY_LIMITS.query })),
  public: Type.Optional(
    Type.String({ description: "true: as from outside a trusted place, without private records" }),
  ),
  explain: Type.Optional(
    Type.String({ description: "true: with what was looked at and why it is there or not" }),
  ),
})
export type PromptQuery = Static<typeof PromptQuery>

/** Why a record that was looked at is not in the section. */
export const LEFT_OUT = ["floor", "top_k", "budget", "core_share"] as const

export const PromptLine = Type.Object({
  id: Type.Integer(),
  kind: MemoryKind,
  line: Type.String(),
  in_prompt: Type.Boolean(),
  left_out: Type.Union([...LEFT_OUT.map((reason) => Type.Literal(reason)), Type.Null()], {
    description:
      "floor: too weak beside the best; top_k: others are stronger; budget: no room; core_share: core has its share",
  }) as unknown as ReturnType<typeof Type.Unsafe<(typeof LEFT_OUT)[number] | null>>,
  score: Type.Union([Type.Number(), Type.Null()], {
    description: "null for core: it is not scored",
  }),
  why: Type.Union([ScoreParts, Type.Null()]),
})
export type PromptLine = Static<typeof PromptLine>

export const MemoryPrompt = Type.Object({
  section: Type.String({ description: "As a turn carries it; empty when there is nothing" }),
  lines: Type.Optional(Type.Array(PromptLine)),
})
export type MemoryPrompt = Static<typeof MemoryPrompt>

export const DeleteQuery = Type.Object({
  purge: Type.Optional(
    Type.String({ description: "true: for good, wherever it is, instead of to the archive" }),
  ),
})
