import { expect, test } from "bun:test"
import { stringify } from "yaml"
import { type Field, propertiesOf, recordOf } from "../../src/config/field.ts"
import { configSecrets, isSecretField, maskConfig } from "../../src/config/mask.ts"
import { Config } from "../../src/config/schema.ts"
import { configFolder, loadText } from "./support.ts"

const SECRETS = ["server-token-1", "main-key-12345", "router-key-123", "pass word", "query-key-12"]

const FULL = `
server: { token: server-token-1, drain: 90s }
db: { path: eva.db }
llm:
  provider: openai
  base_url: https://upstream.test/v1?api_key=query-key-12&region=eu
  api_key: main-key-12345
  proxy: http://user:pass%20word@proxy.test:3128
  model: { general: m }
  models: [{ name: m, description: "costs main-key-12345" }]
  providers:
    router: { provider: openai, base_url: 'https://router.test/v1', api_key: router-key-123 }
    none: { provider: openai, base_url: 'http://127.0.0.1:1/v1', api_key: none }
`

test("SEC-35 BOOT-032: the snapshot holds no secret, in any field, whole or in part", async () => {
  const { config } = await loadText(FULL)
  const shown = maskConfig(config)
  expect(shown).toMatchObject({
    server: { token: "[redacted]", drain: "1m 30s", listen: "127.0.0.1:8090" },
    llm: {
      api_key: "[redacted]",
      max_tokens: 8192,
      max_tokens_guest: 1024,
      first_token_timeout: "5m",
      proxy: "http://proxy.test:3128/",
      models: [{ description: "costs [redacted: configured secret]" }],
      providers: { router: { api_key: "[redacted]", base_url: "https://router.test/v1" } },
    },
  })
  const text = JSON.stringify(shown)
  for (const secret of [...SECRETS, "pass%20word", "user:"]) expect(text).not.toContain(secret)
  expect(text).toContain("region=eu")
})

test("every other string passes the redactor that is handed in", async () => {
  const { config } = await loadText(FULL)
  const shown = maskConfig(config, (text) => text.replaceAll("region", "[gone]"))
  expect(JSON.stringify(shown)).toContain("[gone]=eu")
})

test("all literal secrets are listed, the password of an address in both spellings", async () => {
  const { config } = await loadText(FULL)
  expect(configSecrets(config).sort()).toEqual([...SECRETS, "none", "pass%20word"].sort())
})

test("fields are secret by name: keys, tokens, passwords, env and headers, but no counts of tokens", () => {
  for (const name of [
    "api_key",
    "key",
    "token",
    "X-Eva-Token",
    "client_secret",
    "password",
    "env",
    "headers",
  ]) {
    expect(isSecretField(name, "value")).toBe(true)
  }
  expect(isSecretField("headers", { Authorization: "x" })).toBe(true)
  expect(isSecretField("max_tokens", 8192)).toBe(false)
  for (const name of [
    "magic_keywords",
    "first_token_timeout",
    "keep",
    "on_demand",
    "monkey_name",
  ]) {
    expect(isSecretField(name, "value")).toBe(false)
  }
})

test("what the schemas mark secret and what its name makes secret are the same fields", () => {
  const visit = (name: string, field: Field): void => {
    if (field.type === "string")
      expect([name, field.secret === true]).toEqual([name, isSecretField(name, "x")])
    for (const [key, inner] of Object.entries(propertiesOf(field) ?? {})) visit(key, inner)
    for (const inner of [recordOf(field), field.items as Field | undefined])
      if (inner) visit("", inner)
  }
  visit("", Config)
})

test("a printed snapshot is a configuration again", async () => {
  const { config } = await loadText(FULL.replace("api_key=query-key-12&", ""))
  using folder = configFolder({ "config.yaml": stringify(maskConfig(config)) })
  const again = (await folder.load()).config
  expect(maskConfig(again)).toEqual(maskConfig(config))
  expect(again.images.keep).toBe(config.images.keep)
})
