/** Routes of persons: who speaks, under which identities. */
import { Elysia } from "elysia"
import type { Persons } from "../persons/persons.ts"
import { Person, PersonList, ResolvePerson } from "../schema/person.ts"
import { MergePersons, RenamePerson } from "../schema/person-edit.ts"
import { describe, json } from "./describe.ts"

export function personRoutes(persons: Persons) {
  return new Elysia({ prefix: "/v1/persons" })
    .get("", () => ({ persons: persons.list() }), {
      detail: describe({
        tag: "persons",
        summary: "List persons",
        answers: { 200: json(PersonList, "All of them, with their identities") },
      }),
    })
    .post("/resolve", ({ body }) => persons.resolve(body), {
      body: ResolvePerson,
      detail: describe({
        tag: "persons",
        summary: "Find the person behind an external identity",
        example: { source: "telegram", ext_id: "42", name: "Anna" },
        description:
          "The person is made when the identity is new. Its id is the `sender` of a send.",
        answers: { 200: json(Person, "The person") },
        problems: ["invalid", "unprocessable"],
      }),
    })
    .patch("/:id", ({ params, body }) => persons.rename(params.id, body.name), {
      body: RenamePerson,
      detail: describe({
        tag: "persons",
        summary: "Rename a person",
        example: { name: "Anna K." },
        description: "The owner's own name for somebody: surfaces no longer change it.",
        answers: { 200: json(Person, "The person") },
        problems: ["invalid", "not_found", "unprocessable"],
      }),
    })
    .post("/merge", ({ body }) => persons.merge(body.from, body.into), {
      body: MergePersons,
      detail: describe({
        tag: "persons",
        summary: "Make two persons one",
        example: { from: "p2", into: "p1" },
        description: "The older id stays, the name is that of `into`.",
        answers: { 200: json(Person, "The one that is left") },
        problems: ["invalid", "not_found", "unprocessable"],
      }),
    })
}
