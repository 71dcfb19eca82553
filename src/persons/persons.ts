/**
 * Persons: who speaks to the kernel. A person has one short lasting id (`p7`) and any number of external
 * identities; which of them are the master's is written in the settings, nowhere else.
 */
import { type Clock, isoTime } from "../lib/clock.ts"
import { KernelError, notFound } from "../lib/error.ts"
import { cleanText, head } from "../lib/text.ts"
import {
  PERSON_LIMITS,
  type Person,
  type PersonAlias,
  type PersonEvent,
  type ResolvePerson,
} from "../schema/person.ts"
import type { Store } from "../store/open.ts"
import { aliasKey, type MasterAliases, parseMasterAliases } from "./master-aliases.ts"
import { type Speaker, type SpeakerClaim, speakerOf } from "./speaker.ts"
import { createPersonTable, type PersonRow, type PersonTable } from "./store.ts"

export interface PersonsOptions {
  store: Store
  clock: Clock
  /** The setting `master.aliases`: `source:ext_id` each. */
  masterAliases: readonly string[]
  /** Told after the commit. */
  emit?: (event: PersonEvent) => void
  /** Other rooms that hold person ids; each renames them inside the transaction of a merge. */
  moveReferences?: readonly ((fromId: string, intoId: string) => void)[]
}

export interface Persons {
  /**
   * The person behind an external identity, made when new. A given name replaces the one before, unless the
   * master named the person himself. Writes only when something changed.
   */
  resolve(identity: ResolvePerson): Person
  /** The person, also under the id of one that was merged into it. */
  get(id: string): Person | undefined
  /** All persons, oldest first. */
  list(): Person[]
  /** The master's own name for a person: surfaces no longer change it. Throws not_found or invalid. */
  rename(id: string, name: string): Person
  /**
   * Makes two persons one: the older id stays, the name is that of `into`. Throws not_found, or invalid when
   * the merge would make somebody the master: only the settings do that.
   */
  merge(fromId: string, intoId: string): Person
  /** Throws KernelError("invalid") on `sender` when there is no such person. */
  isMaster(id: string): boolean
  /** The axes of a turn from what its send says. Throws like `isMaster`. */
  speakerOf(claim: SpeakerClaim & { sender?: string }): Speaker
}

export function createPersons(options: PersonsOptions): Persons {
  const { store } = options
  const masters = parseMasterAliases(options.masterAliases)
  const table = createPersonTable(store.db)
  const toPerson = (row: PersonRow) => shape(row, table.aliasesOf(row.id), masters)
  const bySender = (id: string): Person => {
    const row = find(table, id)
    if (row) return toPerson(row)
    throw new KernelError(
      "invalid",
      `no person ${id}: the sender is an id that POST /v1/persons/resolve gave, such as p7`,
      { path: "sender" },
    )
  }

  return {
    resolve: (identity) => resolve({ ...options, table, toPerson }, identity),
    get: (id) => {
      const row = find(table, id)
      return row && toPerson(row)
    },
    list: () => listAll(table, masters),
    rename: (id, name) =>
      store.write(() => {
        const row = expect(table, id)
        table.setName(row.id, newName(name), 1)
        return toPerson(expect(table, id))
      }),
    merge: (fromId, intoId) =>
      store.write(() => merge({ ...options, table, toPerson }, fromId, intoId)),
    isMaster: (id) => bySender(id).master,
    speakerOf: (claim) =>
      speakerOf(claim, claim.sender === undefined ? undefined : bySender(claim.sender)),
  }
}

interface Parts extends PersonsOptions {
  table: PersonTable
  toPerson(row: PersonRow): Person
}

function resolve(parts: Parts, identity: ResolvePerson): Person {
  const { table, store, clock, toPerson } = parts
  const alias = checkedAlias(identity)
  const name = identity.name === undefined ? "" : tidyName(identity.name)
  const known = table.findByAlias(alias)
  if (!known) {
    const fallback = head(`${alias.source}:${alias.ext_id}`, PERSON_LIMITS.name)
    const row = store.write(() => table.insert(name || fallback, alias, clock.now()))
    const person = toPerson(row)
    parts.emit?.({ type: "person.created", person })
    return person
  }
  if (!name || known.renamed || name === known.name) return toPerson(known)
  store.write(() => table.setName(known.id, name, 0))
  return toPerson({ ...known, name })
}

function merge(parts: Parts, fromId: string, intoId: string): Person {
  const { table, toPerson } = parts
  const from = expect(table, fromId)
  const into = expect(table, intoId)
  if (from.id === into.id) {
    throw new KernelError("invalid", `${fromId} and ${intoId} are one person already`)
  }
  refuseNewMaster(toPerson(from), toPerson(into))
  const [kept, gone] = from.id < into.id ? [from, into] : [into, from]
  table.absorb(gone.id, kept.id)
  table.setName(kept.id, into.name, into.renamed)
  for (const move of parts.moveReferences ?? []) move(idOf(gone), idOf(kept))
  return toPerson(expect(table, idOf(kept)))
}

/** Who is the master is decided by the settings: no call may give his rights to a stranger's identity. */
function refuseNewMaster(a: Person, b: Person): void {
  if (a.master === b.master) return
  const stranger = a.master ? b : a
  const aliases = stranger.aliases.map(({ source, ext_id }) => `${source}:${ext_id}`).join(", ")
  throw new KernelError(
    "invalid",
    `merging ${a.id} with ${b.id} would give ${stranger.id} the master's rights: add ${aliases} to master.aliases in the settings first`,
  )
}

function listAll(table: PersonTable, masters: MasterAliases): Person[] {
  const owned = Map.groupBy(table.allAliases(), (alias) => alias.person_id)
  return table.list().map((row) => shape(row, owned.get(row.id) ?? [], masters))
}

function shape(row: PersonRow, aliases: readonly PersonAlias[], masters: MasterAliases): Person {
  return {
    id: idOf(row),
    name: row.name,
    master: aliases.some((alias) => masters.has(aliasKey(alias))),
    aliases: aliases.map(({ source, ext_id }) => ({ source, ext_id })),
    created_at: isoTime(row.created_at),
  }
}

const idOf = (row: PersonRow): string => `p${row.id}`

function find(table: PersonTable, id: string): PersonRow | undefined {
  const [, digits] = /^p([1-9][0-9]{0,14})$/.exec(id) ?? []
  return digits === undefined ? undefined : table.find(Number(digits))
}

function expect(table: PersonTable, id: string): PersonRow {
  const row = find(table, id)
  if (!row) throw notFound("person", id)
  return row
}

/** A source is one word whatever its case; an id is kept as the surface writes it. */
function checkedAlias({ source, ext_id }: PersonAlias): PersonAlias {
  const word = source.trim().toLowerCase()
  if (!/^[^:\s]+$/.test(word)) {
    throw new KernelError(
      "invalid",
      `"${source}" is no source: give one word without a colon, such as telegram`,
      { path: "source" },
    )
  }
  const id = cleanText(ext_id).trim()
  if (!id) {
    throw new KernelError("invalid", "ext_id is empty: give the surface's own id of the person", {
      path: "ext_id",
    })
  }
  return { source: word, ext_id: id }
}

function newName(name: string): string {
  const tidy = tidyName(name)
  if (!tidy) throw new KernelError("invalid", "the name is empty", { path: "name" })
  return tidy
}

/** One line without control and direction marks: a name stands inside markers that only the kernel writes. */
function tidyName(name: string): string {
  const line = cleanText(name)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
  return head(line, PERSON_LIMITS.name).trimEnd()
}
