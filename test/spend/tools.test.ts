/** `usage_stats`: the agent looks at what it costs. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test"
import { createSpend } from "../../src/spend/spend.ts"
import { spendTools } from "../../src/spend/tools.ts"
import { createReader } from "../../src/store/reader.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"
import { openTempStore } from "../support/temp-store.ts"
import { runTool } from "../support/tools.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const USAGE = {
  ...{ prompt_tokens: 1000, completion_tokens: 400, reasoning_tokens: 100, cached_tokens: 750 },
  ...{ cache_write_tokens: 0, cost: 0.25 },
}

test("THIST-10 THIST-11 STAT-04 STAT-09: usage_stats shows spend, the share of thinking, triage and the team", async () => {
  const temp = openTempStore()
  cleanups.push(temp.close)
  const reader = createReader(temp.store.path)
  cleanups.push(reader.close)
  const team = async () => ({
    spawned: 2,
    outcomes: { done: 1, stopped: 1 },
    reported: 3,
    silent: 1,
  })
  const spend = createSpend({ ...temp, reader, team })
  const trip = { source: "message", model: "opus", usage: USAGE, reasoningCost: 0.05 }
  temp.store.write(() => spend.record(trip))
  spend.triage({ engaged: 3, responded: 1 })
  spend.triage({ engaged: 1, responded: 1 })

  const [tool] = spendTools({ spend, zoneName: () => "Europe/Berlin" })
  const { output, isError } = await runTool(tool!, {})
  expect(isError).toBe(false)
  expect(output.split("\n\n")[0]).toBe(
    [
      "== day, since 2026-01-04T23:00:00.000Z",
      "spent $0.2500; requests 1",
      "prompt_tokens 1000 (cached 75 %); completion_tokens 400; reasoning_tokens 100 (25 % of completion); reasoning_cost $0.0500",
      "by model: opus $0.2500",
      "by source: message $0.2500",
      "triage: engaged 4, responded 2 (50 %)",
      "team: spawned 2 (done 1, stopped 1); turns reported 3, silent 1",
    ].join("\n"),
  )
  expect(output).toContain("== week")
  expect(output).toContain("== month")
  expect((await runTool(tool!, { tz: "Mars/Base" })).isError).toBe(true)
})

test("STAT-09: a turn of the master's can call it", async () => {
  const kernel: TestKernel = await testKernel()
  cleanups.push(kernel.dispose)
  const text = plan([{ call: "usage_stats" }, { say: "so much" }])
  const events = await kernel.turn(kernel.newChat(), { text, trusted: true })
  const result = events.find((event) => event.type === "tool_result")
  expect(result).toMatchObject({ is_error: false })
  expect(JSON.stringify(result)).toContain("reasoning_cost unknown")
  expect(kernel.api.registry.get("usage_stats")!.gates).toEqual(["master_only"])
})
