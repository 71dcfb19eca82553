/** The section `sleep`: its defaults, and what is refused in it. */
import { expect, test } from "bun:test"
import { testConfig } from "../support/kernel.ts"

const DAY_MS = 24 * 3600 * 1000

test("CFG-073 CFG-074 CFG-075 CFG-076 CFG-077 CFG-078 CFG-079 CFG-080 CFG-081 CFG-082 CFG-083 CFG-084 SLP-8: sleep without settings", () => {
  expect(testConfig("/eva").sleep).toEqual({
    ...{ enabled: true, at: "00:00", dry_run: false },
    memory: {
      ...{ enabled: true, min_memories: 50, max_ops: 60, max_forget: 20 },
      ...{ keep_recent: 3 * DAY_MS, archive_ttl: 180 * DAY_MS },
      ...{ cluster_jaccard: 0.35, cluster_cosine: 0.82, max_cluster: 12 },
    },
    tools: { enabled: true, max_ops: 10 },
  })
})

test("a time that is none and a model that is not listed are refused by their keys (SLP-8)", () => {
  expect(() => testConfig("/eva", { sleep: { at: "24:00" } })).toThrow("sleep.at")
  expect(() => testConfig("/eva", { sleep: { memory: { model: "nobody" } } })).toThrow(
    "sleep.memory.model",
  )
  expect(() => testConfig("/eva", { sleep: { tools: { model: "nobody" } } })).toThrow(
    "sleep.tools.model",
  )
})

test("retired flat keys change nothing (SLP-7)", () => {
  const { sleep } = testConfig("/eva", { sleep: { max_ops: 3, model: "mock" } })
  expect(sleep).toEqual(testConfig("/eva").sleep)
})
