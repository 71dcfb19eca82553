/** Tools of the family `memory`: what the agent keeps, looks up, corrects and lets go. */
import { type Static, Type } from "@sinclair/typebox"
import { KernelError } from "../lib/error.ts"
import { MEMORY_KINDS, MEMORY_LIMITS } from "../schema/memory.ts"
import { type Tool, type ToolAnswer, ToolFailure } from "../tools/tool.ts"
import type { Memories } from "./memories.ts"
import { COLUMNS, WITHHELD } from "./section.ts"

const GROUP = "memory"
const PAGE = 50

const Id = Type.Integer({ description: "Number at the start of its line" })
const Kind = Type.Union(
  MEMORY_KINDS.map((kind) => Type.Literal(kind)),
  {
    description:
      "core: who the master is, stands in every prompt, so few and short; fact: holds for long (default); event: happened once, fades soon",
  },
)
const Importance = Type.Integer({
  ...{ minimum: 1, maximum: 5 },
  description: "1 trifle, 3 usual (default), 5 would hurt to forget",
})
const Private = Type.Boolean({
  description:
    "Body, health, money, whereabouts, documents, others' names: only for the master alone",
})
const Content = Type.String({
  ...{ minLength: 1, maxLength: MEMORY_LIMITS.content },
  description: "One topic, understandable by itself, with absolute dates",
})

const closed = { additionalProperties: false }
const SaveInput = Type.Object(
  {
    content: Content,
    kind: Type.Optional(Kind),
    importance: Type.Optional(Importance),
    private: Type.Optional(Private),
  },
  closed,
)
const SearchInput = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 2000 }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
  },
  closed,
)
const ListInput = Type.Object(
  {
    kind: Type.Optional(Type.Union(MEMORY_KINDS.map((kind) => Type.Literal(kind)))),
    since_days: Type.Optional(Type.Integer({ minimum: 0 })),
    before: Type.Optional(Type.Integer({ description: "Last id of the page before" })),
  },
  closed,
)
const UpdateInput = Type.Object(
  {
    id: Id,
    content: Type.Optional(Content),
    kind: Type.Optional(Type.Union(MEMORY_KINDS.map((kind) => Type.Literal(kind)))),
    importance: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
    private: Type.Optional(Type.Boolean()),
  },
  closed,
)
const ForgetInput = Type.Object(
  { id: Id, reason: Type.Optional(Type.String({ maxLength: 500 })) },
  closed,
)

export function memoryTools(memories: Memories): Tool[] {
  return [save(memories), search(memories), list(memories), update(memories), forget(memories)]
}

const save = (memories: Memories): Tool => ({
  ...{ name: "memory_save", group: GROUP, icon: "🧠", brief: "{content}" },
  description:
    "Keeps something for later chats. What says the same as a record reinforces it; the answer shows what stands near, so that a contradiction is settled now.",
  input: SaveInput,
  gates: ["master_only"],
  traits: {},
  run: async ({ chatId, identity }, input) => {
    const draft = input as Static<typeof SaveInput>
    const saved = await memories.save({ ...draft, source: `chat:${chatId}` }, identity)
    const line = `${saved.merged ? "reinforced" : "saved"}: ${memories.line(saved.id, identity)}`
    const near = saved.neighbours.map(({ id }) => memories.line(id, identity))
    if (near.length === 0) return { output: line }
    const advice = "Near it; correct or forget what no longer holds:"
    return { output: [line, advice, ...near].join("\n") }
  },
})

const search = (memories: Memories): Tool => ({
  ...{ name: "memory_search", group: GROUP, icon: "🔎", brief: "{query}" },
  description:
    "Looks up memories by words and meaning, best first. Core is not among them: it stands in the prompt.",
  input: SearchInput,
  gates: [],
  traits: { concurrent: true },
  run: async ({ identity }, input) => {
    const { query, limit } = input as Static<typeof SearchInput>
    const hits = await memories.search({ text: query, limit, reinforce: true }, identity)
    const lines = hits.map(({ id }) => memories.line(id, identity))
    const note = memories.withholds(identity) ? [WITHHELD] : []
    if (lines.length > 0) return { output: [COLUMNS, ...lines, ...note].join("\n") }
    return {
      output: [`nothing is remembered about ${query}`, ...note].join("\n"),
      uneventful: true,
    }
  },
})

const list = (memories: Memories): Tool => ({
  ...{ name: "memory_list", group: GROUP, icon: "📜" },
  description: `Lists memories, newest first, ${PAGE} a page.`,
  input: ListInput,
  gates: ["master_only", "trusted_only"],
  traits: { uncapped: true },
  run: async ({ identity }, input) => {
    const { kind, since_days, before } = input as Static<typeof ListInput>
    const page = memories.list({ kind, sinceDays: since_days, before, limit: PAGE }, identity)
    if (page.memories.length === 0) return { output: "no such memories", uneventful: true }
    const lines = page.memories.map(({ id }) => memories.line(id, identity))
    const more = page.nextBefore === undefined ? [] : [`(more with before: ${page.nextBefore})`]
    return { output: [COLUMNS, ...lines, ...more].join("\n") }
  },
})

const update = (memories: Memories): Tool => ({
  ...{ name: "memory_update", group: GROUP, icon: "✏️", brief: "{id}" },
  description: "Corrects a memory: its words, kind, importance or privacy.",
  input: UpdateInput,
  gates: ["master_only"],
  traits: {},
  run: async ({ identity }, input) => {
    const { id, ...patch } = input as Static<typeof UpdateInput>
    if (Object.keys(patch).length === 0) throw new ToolFailure("nothing to change was named")
    return known(id, () => {
      memories.update(id, patch, identity)
      return { output: `updated: ${memories.line(id, identity)}` }
    })
  },
})

const forget = (memories: Memories): Tool => ({
  ...{ name: "memory_forget", group: GROUP, icon: "🗑️", brief: "{id}" },
  description: "Lets a memory go. The master can bring it back from the archive.",
  input: ForgetInput,
  gates: ["master_only"],
  traits: {},
  run: async ({ identity }, input) => {
    const { id, reason } = input as Static<typeof ForgetInput>
    return known(id, () => {
      const line = memories.line(id, identity)
      memories.forget(id, { by: "tool", ...(reason !== undefined && { reason }) })
      return { output: `forgotten: ${line}` }
    })
  },
})

/** A record that this turn may not know of is as absent as one that never was. */
function known(id: number, work: () => ToolAnswer): ToolAnswer {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof KernelError) || error.code !== "not_found") throw error
    throw new ToolFailure(`no memory ${id}; memory_search shows the numbers`)
  }
}
