/** Tools of the family `person`: who is known, and putting their names and identities in order. */
import { type Static, Type } from "@sinclair/typebox"
import { PERSON_LIMITS, type Person } from "../schema/person.ts"
import type { Tool } from "../tools/tool.ts"
import type { Persons } from "./persons.ts"

const GROUP = "person"
const PersonId = Type.String({ description: "Short person id such as p7" })

const ListInput = Type.Object(
  { query: Type.Optional(Type.String({ description: "Part of a name, an alias or an id" })) },
  { additionalProperties: false },
)
const MergeInput = Type.Object(
  {
    from: PersonId,
    into: Type.String({ description: "The person whose name stays; the older id stays" }),
  },
  { additionalProperties: false },
)
const RenameInput = Type.Object(
  { id: PersonId, name: Type.String({ minLength: 1, maxLength: PERSON_LIMITS.name }) },
  { additionalProperties: false },
)

export const personTools = (persons: Persons): Tool[] => [
  {
    name: "person_list",
    group: GROUP,
    icon: "👥",
    description: "Lists the known persons with their ids, names and aliases on surfaces.",
    input: ListInput,
    gates: ["privileged_only"],
    traits: {},
    run: async (_context, input) => {
      const { query } = input as Static<typeof ListInput>
      const lines = persons.list().map(line)
      const wanted = query?.toLowerCase()
      const found = wanted ? lines.filter((each) => each.toLowerCase().includes(wanted)) : lines
      if (found.length > 0) return { output: found.join("\n") }
      return {
        output: lines.length > 0 ? `no person matches ${query}` : "no persons yet",
        uneventful: true,
      }
    },
  },
  {
    name: "person_merge",
    group: GROUP,
    icon: "👥",
    brief: "{from} → {into}",
    description:
      "Merges two persons who are one: aliases and everything that refers to them move to the older id.",
    input: MergeInput,
    gates: ["master_only"],
    traits: {},
    run: async (_context, input) => {
      const { from, into } = input as Static<typeof MergeInput>
      return { output: `merged: ${line(persons.merge(from, into))}` }
    },
  },
  {
    name: "person_rename",
    group: GROUP,
    icon: "👤",
    brief: "{id} → {name}",
    description: "Gives a person the name that the master uses; a surface no longer changes it.",
    input: RenameInput,
    gates: ["master_only"],
    traits: {},
    run: async (_context, input) => {
      const { id, name } = input as Static<typeof RenameInput>
      return { output: `renamed: ${line(persons.rename(id, name))}` }
    },
  },
]

function line({ id, name, master, aliases }: Person): string {
  const known = aliases.map(({ source, ext_id }) => `${source}:${ext_id}`).join(", ")
  return `${id} ${name}${master ? " (master)" : ""} — ${known}`
}
