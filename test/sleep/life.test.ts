/** Many nights of a generated life, on a small scale; `bun run bench life` plays the large one. */
import { afterEach, expect, test } from "bun:test"
import { PATIENCE_MS } from "../support/patience.ts"
import { liveAndSleep, scriptedPlan } from "./life.ts"
import { DAY_MS, type SleepRig, sleepRig } from "./rig.ts"

let rig: SleepRig
afterEach(() => rig.dispose())

test(
  "forty nights of a life: the rules hold each night, junk and growth fall, and the journal takes every refusal",
  async () => {
    rig = await sleepRig({
      planner: scriptedPlan,
      memory: { max_ops: 40, max_forget: 15, keep_recent: "3days" },
    })
    const { nights, complaints } = await liveAndSleep({
      ...{ rig, memories: 600, nights: 40, days: 440, seed: 7 },
      limits: { ops: 40, forgets: 15, keepRecentMs: 3 * DAY_MS },
    })
    expect(complaints).toEqual([])
    const last = nights.at(-1)!
    expect(last.memories).toBeLessThan(450)
    expect(last.junk).toBeLessThan(0.15)
    const refusals = nights.flatMap(({ run }) =>
      run.phases.flatMap(({ ops }) => ops.flatMap(({ reason }) => reason ?? [])),
    )
    expect(refusals.some((reason) => reason.includes("private records were shown"))).toBe(true)
  },
  2 * PATIENCE_MS,
)
