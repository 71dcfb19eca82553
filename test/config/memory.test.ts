/** The section `memory`: its defaults, and that the kernel obeys it. */
import { expect, test } from "bun:test"
import { testApi } from "../api/support.ts"
import { testConfig } from "../support/kernel.ts"

test("CFG-067 CFG-068 CFG-069 CFG-070 CFG-071: what is recalled without settings", () => {
  expect(testConfig("/eva").memory).toEqual({
    ...{ top_k: 8, public_top_k: 3, prompt_budget: 8000, recall_floor: 0.15 },
    half_life: 30 * 24 * 3600 * 1000,
  })
})

test("the kernel recalls by its settings", async () => {
  const api = await testApi({
    config: { memory: { top_k: 1, prompt_budget: 90, half_life: "1h" } },
  })
  const contents = ["Anna plays chess", `Anna ${"writes long letters ".repeat(9)}`, "Anna paints"]
  for (const content of contents) await api.call("POST /v1/memories", { content, dedup: false })
  const { json } = await api.call("GET /v1/memories/prompt?q=Anna&explain=true")
  expect(json.section.split("\n")).toHaveLength(3)
  const inside = json.lines.filter(({ in_prompt }: { in_prompt: boolean }) => in_prompt)
  expect([json.lines.length, inside.length]).toEqual([3, 1])
  await api.dispose()
})
