/** A person: somebody who speaks to the kernel, known under one or more external identities. */
import { type Static, Type } from "@sinclair/typebox"

export const PERSON_LIMITS = { source: 100, extId: 200, name: 100 } as const

export const PersonAlias = Type.Object({
  source: Type.String({
    minLength: 1,
    maxLength: PERSON_LIMITS.source,
    pattern: "^[^:\\s]+$",
    description: "The surface that knows the person, such as telegram; no colon, case is ignored",
  }),
  ext_id: Type.String({
    minLength: 1,
    maxLength: PERSON_LIMITS.extId,
    description:
      "The surface's own lasting id of the person, not a name that the person can choose",
  }),
})
export type PersonAlias = Static<typeof PersonAlias>

export const Person = Type.Object({
  id: Type.String({ description: "Short and lasting, such as p7: the `sender` of a send" }),
  name: Type.String(),
  master: Type.Boolean({ description: "One of the aliases is listed in master.aliases" }),
  aliases: Type.Array(PersonAlias),
  created_at: Type.String({ format: "date-time" }),
})
export type Person = Static<typeof Person>

export const PersonList = Type.Object({
  persons: Type.Array(Person, { description: "Oldest first" }),
})
export type PersonList = Static<typeof PersonList>

export const ResolvePerson = Type.Object(
  {
    ...PersonAlias.properties,
    name: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: `How the surface names the person now; cut at ${PERSON_LIMITS.name} characters`,
      }),
    ),
  },
  { additionalProperties: false },
)
export type ResolvePerson = Static<typeof ResolvePerson>

/** What the persons room tells: a new person appeared. */
export interface PersonEvent {
  type: "person.created"
  person: Person
}
