/** Tool sets: which tools stand in sight for one kind of work, and how the agent works while one is on. */
import type { Clock } from "../lib/clock.ts"
import { KernelError } from "../lib/error.ts"
import { cleanText, nearest } from "../lib/text.ts"
import type { WorkdirOn } from "../schema/chat.ts"
import { TOOLSET_LIMITS, type Toolset } from "../schema/toolset.ts"
import { readMeta, writeMeta } from "../store/meta.ts"
import type { Store } from "../store/open.ts"
import { ALL_TOOLS, NO_TOOLS, readAccess } from "../tools/access.ts"
import { checkEntryDescription, checkEntryName } from "../tools/entry-name.ts"
import { checkToolNames } from "../tools/known-names.ts"
import type { Registry } from "../tools/registry.ts"
import type { ToolAccess } from "../tools/tool.ts"
import type { ToolsetDraft, ToolsetPatch } from "./draft.ts"
import { SEEDS } from "./seeds.ts"
import { createToolsetTable, type ToolsetRow, type ToolsetTable } from "./store.ts"

export interface ToolsetsOptions {
  store: Store
  clock: Clock
  registry: Pick<Registry, "list">
  /** Takes a set off every chat that it is pinned to; called inside the transaction that removes the set. */
  unpin(name: string): void
}

export type Toolsets = ReturnType<typeof createToolsets>

/** Set once the seeds are sown: one that was removed does not come back. */
const LATCH = "toolsets_seeded"

export function createToolsets(options: ToolsetsOptions) {
  const { store, clock, registry, unpin } = options
  const rows = createToolsetTable(store.db)
  sow(options, rows)

  /** Throws `invalid` with the sets that there are. */
  const get = (name: string): Toolset => {
    const row = rows.find(name)
    if (row) return asToolset(row)
    throw unknownToolset(
      name,
      rows.list().map((each) => each.name),
    )
  }

  return {
    /** All, by name. */
    list: (): Toolset[] => rows.list().map(asToolset),
    find: (name: string): Toolset | undefined => {
      const row = rows.find(name)
      return row && asToolset(row)
    },
    get,
    /** Throws `invalid`, and `conflict` for a name that is taken. */
    create: (draft: ToolsetDraft): Toolset => {
      checkToolNames(draft.tools, registry)
      const row = rowOf(draft, clock.now())
      store.write(() => {
        if (rows.find(row.name)) throw taken(row.name)
        rows.put(row)
      })
      return asToolset(row)
    },
    /** Throws `invalid`. */
    edit: (name: string, patch: ToolsetPatch): Toolset => {
      if (patch.tools) checkToolNames(patch.tools, registry)
      return store.write((): Toolset => {
        get(name)
        const row = { ...rows.find(name)!, ...columns(patch), updated_at: clock.now() }
        rows.put(row)
        return asToolset(row)
      })
    },
    /** Its chats go back to the whole registry. Throws `invalid`. */
    remove: (name: string): void => {
      store.write(() => {
        get(name)
        unpin(name)
        rows.remove(name)
      })
    },
  }
}

function sow({ store, clock }: ToolsetsOptions, rows: ToolsetTable): void {
  if (readMeta(store, LATCH) !== undefined) return
  store.write(() => {
    for (const seed of SEEDS) rows.put(rowOf(seed, clock.now()))
    writeMeta(store, LATCH, "1")
  })
}

/**
 * The list of a set as access: an empty one is the whole registry, as a set may be a mode alone; one that
 * cannot be read opens nothing.
 */
export function accessOf({ tools, tools_error }: Toolset): ToolAccess {
  if (tools_error !== undefined) return NO_TOOLS
  return tools.length === 0 ? ALL_TOOLS : { kind: "only", names: tools }
}

function rowOf(draft: ToolsetDraft, now: number): ToolsetRow {
  return {
    ...{ hint: null, workdir: null, workdir_on: "server", uncapped: 0, narrate: 0, no_brevity: 0 },
    ...{ created_at: now, updated_at: now, description: "", tools: "[]" },
    ...columns(draft),
    name: checkEntryName(draft.name, TOOLSET_LIMITS.name),
  }
}

/** The columns of what was given, checked. Throws `invalid` with the field. */
function columns(patch: ToolsetPatch): Partial<ToolsetRow> {
  const { description, tools, hint, workdir, workdir_on, uncapped, narrate, no_brevity } = patch
  return {
    ...(description !== undefined && { description: checkEntryDescription(description) }),
    ...(tools !== undefined && { tools: JSON.stringify([...new Set(tools)]) }),
    ...(hint !== undefined && { hint: cleanText(hint ?? "").trim() || null }),
    ...(workdir !== undefined && { workdir }),
    ...(workdir_on !== undefined && { workdir_on }),
    ...(uncapped !== undefined && { uncapped: Number(uncapped) }),
    ...(narrate !== undefined && { narrate: Number(narrate) }),
    ...(no_brevity !== undefined && { no_brevity: Number(no_brevity) }),
  }
}

function asToolset(row: ToolsetRow): Toolset {
  const access = readAccess(row.tools)
  const readable = access.kind === "only" && access !== NO_TOOLS
  return {
    name: row.name,
    description: row.description,
    tools: readable ? [...access.names] : [],
    ...(!readable && { tools_error: "the stored list is no list of names" }),
    hint: row.hint,
    workdir: row.workdir,
    workdir_on: row.workdir_on as WorkdirOn,
    uncapped: row.uncapped === 1,
    narrate: row.narrate === 1,
    no_brevity: row.no_brevity === 1,
  }
}

const taken = (name: string): KernelError =>
  new KernelError("conflict", `a tool set ${name} is there already; toolset_edit changes it`)

function unknownToolset(name: string, known: readonly string[]): KernelError {
  const guess = nearest(name, known)
  const list = known.length > 0 ? `; there are ${known.join(", ")}` : "; there are none"
  const hint = guess ? `; did you mean ${guess}?` : ""
  return new KernelError("invalid", `there is no tool set named ${name}${hint}${list}`, {
    path: "toolset",
  })
}
