import { expect, test } from "bun:test"
import { join } from "node:path"
import { parse } from "yaml"
import { configExample } from "../../src/config/example.ts"
import { type Field, propertiesOf, recordOf } from "../../src/config/field.ts"
import type { Source } from "../../src/config/merge.ts"
import { mergeSources } from "../../src/config/merge.ts"
import { configReference } from "../../src/config/reference.ts"
import { resolveTree } from "../../src/config/resolve.ts"
import { Config } from "../../src/config/schema.ts"
import { configFolder, loadText } from "./support.ts"

const ROOT = join(import.meta.dir, "../..")

const resolveText = (yaml: string) => {
  const source: Source = { name: "example", directory: "/example", tree: parse(yaml) }
  return resolveTree({
    merged: mergeSources([source]),
    schema: Config,
    directory: "/example",
    home: "/home",
  })
}

test("the generated files are up to date", async () => {
  expect(await Bun.file(join(ROOT, "config.example.yaml")).text()).toBe(configExample())
  expect(await Bun.file(join(ROOT, "docs/reference/config.md")).text()).toBe(configReference())
})

test("BOOT-011: a copy of config.example.yaml with the mock provider loads without a key or a warning", async () => {
  const example = await Bun.file(join(ROOT, "config.example.yaml")).text()
  using folder = configFolder({
    "config.yaml": example.replace(/^ {2}provider: .*$/m, "  provider: mock"),
  })
  const { config, warnings } = await folder.load()
  expect(config.llm.provider).toBe("mock")
  expect(warnings).toEqual([])
})

test("the example changes no default: it equals the configuration of its active lines", async () => {
  const { config } = await loadText(configExample())
  const bare = await loadText(
    "server:\ndb: { path: eva.db }\nllm: { provider: anthropic, model: { general: claude-sonnet-5-5 }, models: [{ name: claude-sonnet-5-5 }] }\n",
  )
  expect(config.llm).toEqual(bare.config.llm)
  expect(config.server).toEqual(bare.config.server)
})

test("every setting of the example is right when its # is removed", () => {
  const everything = configExample().replaceAll(/^(\s*)#(?! |$)/gm, "$1")
  const { value, problems } = resolveText(everything)
  expect(problems).toEqual([])
  expect(value).toMatchObject({
    server: { cors: ["https://eva.example.org"] },
    llm: { models: [{ max_output: 128_000 }], providers: { router: { provider: "openai" } } },
    secrets: { rules: [{ name: "ticket" }] },
  })
})

test("every field has a sentence, and both documents hold it", () => {
  const example = configExample().replaceAll(/\s+#? ?/g, " ")
  const reference = configReference()
  const visit = (path: string, field: Field): void => {
    expect([path, /^[A-Z].*\.$/.test(String(field.description))]).toEqual([path, true])
    const inner = propertiesOf(field)
    if (!inner && !recordOf(field)) {
      expect(example).toContain(String(field.description))
      expect(reference).toContain(`\`${path}\``)
    }
    for (const [name, child] of Object.entries(inner ?? {})) visit(`${path}.${name}`, child)
    const record = recordOf(field)
    if (record) visit(`${path}.<name>`, record)
    const item = field.items as Field | undefined
    if (item && propertiesOf(item)) visit(`${path}[]`, item)
  }
  for (const [name, section] of Object.entries(propertiesOf(Config)!)) {
    for (const [key, field] of Object.entries(propertiesOf(section)!))
      visit(`${name}.${key}`, field)
  }
})
