/**
 * Three simulated years: memories that come with contradictions, repetitions, private facts and trifles, and a
 * hundred nights that a script plans, one of them among the first measured for how long it holds the event loop.
 */

import { type LifeNight, liveAndSleep, scriptedPlan } from "../../sleep/life.ts"
import { DAY_MS, sleepRig } from "../../sleep/rig.ts"
import type { Bench } from "../bench.ts"
import type { Row } from "../report.ts"
import { median } from "../statistics.ts"

const SIZES = {
  full: { memories: 10_000, nights: 100, days: 1095 },
  quick: { memories: 1000, nights: 50, days: 548 },
}
const LIMITS = { ops: 150, forgets: 60, keepRecentMs: 3 * DAY_MS }
const TELL_EVERY = 10

export const nights: Bench = {
  name: "nights",
  run: async ({ quick, say }) => {
    const size = quick ? SIZES.quick : SIZES.full
    const rig = await sleepRig({
      planner: scriptedPlan,
      memory: { max_ops: LIMITS.ops, max_forget: LIMITS.forgets, keep_recent: "3days" },
    })
    try {
      const { nights: slept, complaints } = await liveAndSleep({
        ...{ rig, ...size, seed: 11, limits: LIMITS },
        told: (number, { memories, junk, calls }) => {
          if (number % TELL_EVERY === 0) {
            say(`night ${number}: ${memories} memories, junk ${junk.toFixed(3)}, ${calls} calls`)
          }
        },
      })
      for (const complaint of complaints.slice(0, 5)) say(complaint)
      return rowsOf(size.memories, slept, complaints.length)
    } finally {
      await rig.dispose()
    }
  },
}

function rowsOf(saved: number, slept: readonly LifeNight[], complaints: number): Row[] {
  const last = slept.at(-1)!
  const unit = { memories: "memories", share: "share", calls: "calls", s: "s" }
  return [
    { figure: "rules broken", measured: complaints, unit: "", goal: { max: 0 } },
    { figure: "memories saved", measured: saved, unit: unit.memories },
    {
      ...{ figure: "memories left", measured: last.memories, unit: unit.memories },
      goal: { max: saved - 1 },
    },
    { figure: "junk saved", measured: last.junkSaved, unit: unit.share },
    {
      ...{ figure: "junk left", measured: last.junk, unit: unit.share },
      goal: { max: last.junkSaved / 2 },
    },
    {
      figure: "calls of a night",
      measured: median(slept.map(({ calls }) => calls)),
      unit: unit.calls,
    },
    { figure: "a night", measured: median(slept.map(({ ms }) => ms / 1000)), unit: unit.s },
    {
      figure: "the longest night",
      measured: Math.max(...slept.map(({ ms }) => ms / 1000)),
      unit: unit.s,
    },
  ]
}
