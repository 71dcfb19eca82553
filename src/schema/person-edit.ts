/** Bodies of the routes by which the owner tidies his list of persons. */
import { type Static, Type } from "@sinclair/typebox"

const PersonId = Type.String({ description: "Such as p7" })

export const RenamePerson = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 1000 }) },
  { additionalProperties: false },
)
export type RenamePerson = Static<typeof RenamePerson>

export const MergePersons = Type.Object(
  { from: PersonId, into: PersonId },
  { additionalProperties: false },
)
export type MergePersons = Static<typeof MergePersons>
