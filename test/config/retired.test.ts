import { expect, test } from "bun:test"
import { retireKeys } from "../../src/config/retired.ts"
import { loadText, MINIMAL } from "./support.ts"

test("retired keys load with one warning each and change nothing", async () => {
  const { config, warnings } = await loadText(
    `${MINIMAL.replace("mock }", "mock, vision_model: old }")}telegram: { token: x }\nsleep: { model: a, max_ops: 3 }\n`,
  )
  expect(warnings.filter((warning) => warning.includes("is retired"))).toEqual([
    "telegram is retired and has no effect; the surface is a module with its own configuration",
    "llm.vision_model is retired and has no effect; pictures go to models marked multimodal in llm.models",
    "sleep.model is retired and has no effect; use sleep.memory.model",
    "sleep.max_ops is retired and has no effect; use sleep.memory.max_ops",
  ])
  expect(warnings.some((warning) => warning.includes("section sleep"))).toBe(false)
  expect(config.llm).not.toHaveProperty("vision_model")
})

test("CFG-036: llm.vision_model is no setting any more", async () => {
  const { config, warnings } = await loadText(
    "server:\ndb: { path: eva.db }\nllm: { provider: mock, vision_model: not-listed, models: [{ name: mock }] }\n",
  )
  expect(config.llm).not.toHaveProperty("vision_model")
  expect(warnings).toHaveLength(1)
})

test("BOOT-017 CTX-03: compaction keys in characters are read as a quarter in tokens, with a warning each", () => {
  const { tree, warnings } = retireKeys({
    context: {
      compact_after_chars: 400_000,
      compact_keep_chars: 10_001,
      compact_keep_tokens: 7,
      telegram: { compact_after_chars: 80_000 },
      cron: { compact_keep_chars: 4 },
    },
  })
  expect(tree).toEqual({
    context: {
      compact_after_tokens: 100_000,
      compact_keep_tokens: 7,
      telegram: { compact_after_tokens: 20_000 },
      cron: { compact_keep_tokens: 1 },
    },
  })
  expect(warnings).toEqual([
    "context.compact_after_chars is read as characters / 4; use context.compact_after_tokens",
    "context.compact_keep_chars is read as characters / 4; use context.compact_keep_tokens",
    "context.telegram.compact_after_chars is read as characters / 4; use context.telegram.compact_after_tokens",
    "context.cron.compact_keep_chars is read as characters / 4; use context.cron.compact_keep_tokens",
  ])
})
