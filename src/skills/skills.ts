/** Skills: instructions that the agent keeps for kinds of tasks, found by a line and read when one fits. */
import { type Clock, isoTime } from "../lib/clock.ts"
import { KernelError } from "../lib/error.ts"
import { cleanText, nearest } from "../lib/text.ts"
import { SKILL_LIMITS, type Skill, type SkillVisibility } from "../schema/skill.ts"
import type { Store } from "../store/open.ts"
import { checkEntryDescription, checkEntryName } from "../tools/entry-name.ts"
import type { TurnIdentity } from "../tools/tool.ts"
import { createSkillTable, type SkillLine, type SkillRow } from "./store.ts"

export interface SkillsOptions {
  store: Store
  clock: Clock
  /** True, or a sentence that names the nearest known model. */
  isKnownModel(name: string): true | string
}

export interface SkillDraft {
  name: string
  description: string
  body: string
  model?: string | null
  visibility?: SkillVisibility
}

/** What stays as it is is left out; `model: null` hands the skill back to the model of the turn. */
export type SkillPatch = Partial<Omit<SkillDraft, "name">>

/** A skill with what it says. */
export type WholeSkill = Skill & { body: string }

export type Skills = ReturnType<typeof createSkills>

export function createSkills(options: SkillsOptions) {
  const { store, clock } = options
  const rows = createSkillTable(store.db)

  /** Those that a turn may use, by name. */
  const usable = (identity: TurnIdentity): Skill[] =>
    rows
      .list()
      .filter((row) => isUsable(row, identity))
      .map(asSkill)

  return {
    /** All, by name. */
    list: (): Skill[] => rows.list().map(asSkill),
    usable,
    /** Throws `not_found` for a skill that is not there, or not for this turn. */
    read: (name: string, identity: TurnIdentity): WholeSkill => {
      const row = rows.find(name)
      if (row && isUsable(row, identity)) return { ...asSkill(row), body: row.body }
      throw unknownSkill(
        name,
        usable(identity).map((skill) => skill.name),
      )
    },
    /** Throws `invalid`, and `conflict` for a name that is taken. */
    create: (draft: SkillDraft): Skill => {
      const now = clock.now()
      const row: SkillRow = {
        name: checkEntryName(draft.name, SKILL_LIMITS.name),
        description: checkEntryDescription(draft.description),
        body: checkBody(draft.body),
        model: checkModel(draft.model ?? null, options),
        visibility: draft.visibility ?? "private",
        created_at: now,
        updated_at: now,
      }
      store.write(() => {
        if (rows.find(row.name)) throw taken(row.name)
        rows.put(row)
      })
      return asSkill(row)
    },
    /** Throws `not_found` and `invalid`. */
    edit: (name: string, patch: SkillPatch): Skill => {
      const changed = store.write((): SkillRow => {
        const before = rows.find(name)
        if (!before) throw unknownSkill(name, rows.list().map(nameOf))
        const row = { ...before, ...fields(patch, options), updated_at: clock.now() }
        rows.put(row)
        return row
      })
      return asSkill(changed)
    },
    /** Throws `not_found`. */
    remove: (name: string): void => {
      if (!store.write(() => rows.remove(name))) throw unknownSkill(name, rows.list().map(nameOf))
    },
  }
}

const nameOf = ({ name }: SkillLine): string => name

/** The columns of what was given, checked. Throws `invalid` with the field. */
function fields(patch: SkillPatch, options: SkillsOptions): Partial<SkillRow> {
  const { description, body, model, visibility } = patch
  return {
    ...(description !== undefined && { description: checkEntryDescription(description) }),
    ...(body !== undefined && { body: checkBody(body) }),
    ...(model !== undefined && { model: checkModel(model, options) }),
    ...(visibility !== undefined && { visibility }),
  }
}

function checkModel(model: string | null, { isKnownModel }: SkillsOptions): string | null {
  const known = model === null ? true : isKnownModel(model)
  if (known === true) return model
  throw new KernelError("invalid", known, { path: "model" })
}

/** A skill is read whole or it misleads: what is too long is refused, never cut. */
function checkBody(text: string): string {
  const body = cleanText(text).trim()
  if (body === "") {
    throw new KernelError("invalid", "body must hold the instruction", { path: "body" })
  }
  if (body.length <= SKILL_LIMITS.body) return body
  throw new KernelError(
    "invalid",
    `body has ${body.length} characters, ${SKILL_LIMITS.body} are the most: split it into skills of their own`,
    { path: "body" },
  )
}

/** Private skills are for the master where nobody reads along; what costs money is not for guests. */
function isUsable({ visibility, model }: SkillLine, identity: TurnIdentity): boolean {
  const { master, public: open, privileged } = identity
  if (model !== null && !privileged) return false
  return visibility === "surface" || (master && !open)
}

const asSkill = ({ name, description, model, visibility, created_at, updated_at }: SkillLine) =>
  ({
    ...{ name, description, model },
    visibility: visibility as SkillVisibility,
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
  }) satisfies Skill

const taken = (name: string): KernelError =>
  new KernelError("conflict", `a skill ${name} is there already; skill_edit changes it`)

function unknownSkill(name: string, known: readonly string[]): KernelError {
  const guess = nearest(name, known)
  const list = known.length > 0 ? `; there are ${known.join(", ")}` : "; there are none"
  return new KernelError(
    "not_found",
    `no skill ${name}${guess ? `; did you mean ${guess}?` : list}`,
  )
}
