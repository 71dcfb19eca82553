import { expect, test } from "bun:test"
import { buildFromTexts, editConfigText, missingFrom } from "../../src/config/edit.ts"

const path = "/etc/eva/config.yaml"

test("an edit leaves comments, order and quotes of everything else alone", async () => {
  const text = `# head
server: {listen: "127.0.0.1:1"} # tail
llm:
  # only a comment
db:
  path: 'a.db'
`
  expect(
    await editConfigText({ path, text }, [
      { path: ["llm", "model", "general"], value: "m" },
      { path: ["db", "path"], value: undefined },
    ]),
  ).toBe(`# head
server: { listen: "127.0.0.1:1" } # tail
llm:
  # only a comment
  model:
    general: m
db: {}
`)
})

test("no edit, no change: not even of the spacing", async () => {
  const text = "a:   {b: 1}\n"
  expect(await editConfigText({ path, text }, [])).toBe(text)
})

test("what is missing is found below mappings; lists, plain values and blanks count whole", () => {
  expect(
    missingFrom(
      { a: { b: 1 }, list: [1], blank: null },
      { a: { b: 2, c: 3 }, list: [2], blank: { d: 4 }, plain: undefined },
    ),
  ).toEqual([
    { path: ["a", "c"], value: 3 },
    { path: ["blank"], value: { d: 4 } },
  ])
})

test("texts make the configuration that they would make as files", async () => {
  const texts = [
    { path, text: "server: {}\ndb: { path: eva.db }\nllm: { provider: mock }\n" },
    { path: "/etc/eva/secrets.yaml", text: "server: { token: t }\n" },
  ]
  const environment = { EVA_SERVER__LISTEN: "127.0.0.1:7" }
  const { config, sources } = await buildFromTexts(texts, { environment, cwd: "/" })
  expect(config.server).toMatchObject({ listen: "127.0.0.1:7", token: "t" })
  expect(config.db.path).toBe("/etc/eva/eva.db")
  expect(sources).toEqual([path, "/etc/eva/secrets.yaml", "EVA_SERVER__LISTEN"])
})
