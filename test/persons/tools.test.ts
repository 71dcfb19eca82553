import { afterEach, beforeEach, expect, test } from "bun:test"
import { createPersons, type Persons } from "../../src/persons/persons.ts"
import { personTools } from "../../src/persons/tools.ts"
import { openTempStore } from "../support/temp-store.ts"
import { guestIdentity, masterIdentity, reachTurn, runTool } from "../support/tools.ts"

let temp: ReturnType<typeof openTempStore>
let persons: Persons

beforeEach(() => {
  temp = openTempStore()
  persons = createPersons({ ...temp, masterAliases: ["telegram:42"] })
  persons.resolve({ source: "telegram", ext_id: "42", name: "Господин" })
  persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })
  persons.resolve({ source: "matrix", ext_id: "@anna:x.org", name: "anna" })
})
afterEach(() => temp.close())

const call = (name: string, input: unknown, identity = masterIdentity()) => {
  const tool = personTools(persons).find((each) => each.name === name)!
  return runTool(tool, input, { turn: reachTurn({ identity }) })
}

test("PERS-01 TPER-4: the family `person` has three tools", () => {
  expect(personTools(persons).map(({ name, group, gates }) => [name, group, gates])).toEqual([
    ["person_list", "person", ["privileged_only"]],
    ["person_merge", "person", ["master_only"]],
    ["person_rename", "person", ["master_only"]],
  ])
})

test("TPER-1: person_list shows known persons and their aliases, to allowed users only", async () => {
  expect(await call("person_list", {})).toEqual({
    output: [
      "p1 Господин (master) — telegram:42",
      "p2 Anna — telegram:7",
      "p3 anna — matrix:@anna:x.org",
    ].join("\n"),
    isError: false,
  })
  const allowed = guestIdentity({ privileged: true })
  expect((await call("person_list", { query: "господин" }, allowed)).output).toStartWith("p1 ")
  expect((await call("person_list", { query: "matrix" })).output).toStartWith("p3 ")
  expect(await call("person_list", { query: "zoe" })).toMatchObject({
    output: "no person matches zoe",
    uneventful: true,
  })
  const refused = await call("person_list", {}, guestIdentity())
  expect(refused.isError).toBe(true)
  expect(refused.output).not.toContain("Anna")
})

test("TPER-2: person_merge makes two persons one, for the master only", async () => {
  const guest = guestIdentity({ privileged: true })
  expect((await call("person_merge", { from: "p3", into: "p2" }, guest)).isError).toBe(true)
  expect(persons.list()).toHaveLength(3)
  expect(await call("person_merge", { from: "p3", into: "p2" })).toMatchObject({
    output: "merged: p2 Anna — matrix:@anna:x.org, telegram:7",
    isError: false,
  })
  const wrong = await call("person_merge", { from: "p2", into: "p1" })
  expect(wrong.isError).toBe(true)
  expect(wrong.output).toContain("master.aliases")
})

test("TPER-3: person_rename gives a person the master's name, for the master only", async () => {
  const guest = guestIdentity({ privileged: true })
  expect((await call("person_rename", { id: "p2", name: "Ann" }, guest)).isError).toBe(true)
  expect(await call("person_rename", { id: "p2", name: "Сестра" })).toMatchObject({
    output: "renamed: p2 Сестра — telegram:7",
  })
  expect((await call("person_rename", { id: "p77", name: "x" })).output).toContain("p77")
})
