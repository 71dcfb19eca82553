/** A kernel that is killed in its sleep has done each phase wholly or not at all. */
import { afterEach, expect, test } from "bun:test"
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { tempFolder } from "../support/kernel.ts"
import { PATIENCE_MS } from "../support/patience.ts"
import { manualClockAt } from "./clock.ts"
import { DAY_MS, START, sleepRig } from "./rig.ts"
import { planStory, STORY_SETTINGS, saveStory, stateOf } from "./story.ts"

const folders: string[] = []
const newFolder = (): string => {
  const folder = tempFolder()
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const BED_TIME = Date.parse(START) + 25 * DAY_MS
/** Looks at the clock between two kills: small enough to hit every phase, as the test checks. */
const STRIDE = 3

const open = (folder: string) =>
  sleepRig({
    ...{ folder, clock: manualClockAt(new Date(BED_TIME).toISOString()) },
    ...{ planner: planStory, more: STORY_SETTINGS },
  })

/** The folder before the night, and the state behind each number of applied phases. */
async function reference() {
  const folder = newFolder()
  const before = await sleepRig({ folder, more: STORY_SETTINGS })
  await saveStory(before)
  await before.kernel.close(0)
  const copy = newFolder()
  cpSync(folder, copy, { recursive: true })
  const rig = await open(copy)
  const states = [stateOf(rig)]
  rig.plan((asked) => {
    // Hygiene changes nothing; the state behind groups and behind forgetting is seen by the next question.
    if (asked.phase === "forget") states[2] = stateOf(rig)
    if (asked.phase === "kinds") states[3] = stateOf(rig)
    return planStory(asked)
  })
  await rig.night()
  states[1] = states[0]!
  states[4] = stateOf(rig)
  await rig.kernel.close(0)
  return { folder, states }
}

async function nightKilledAt(folder: string, look: number): Promise<boolean> {
  const child = Bun.spawn(
    [
      ...[process.execPath, join(import.meta.dir, "crash-child.ts")],
      ...[folder, String(BED_TIME), String(look)],
    ],
    { env: { PATH: process.env.PATH ?? "" }, stdout: "pipe", stderr: "inherit" },
  )
  const said = await new Response(child.stdout).text()
  await child.exited
  return said !== "slept"
}

test(
  "a night killed anywhere leaves whole phases, and the next one brings it to its end",
  async () => {
    const { folder, states } = await reference()
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(4)
    const reached = new Set<number>()
    for (let look = 1; ; look += STRIDE) {
      const copy = newFolder()
      cpSync(folder, copy, { recursive: true })
      if (!(await nightKilledAt(copy, look))) break
      const rig = await open(copy)
      const [run] = rig.sleep.runs({ limit: 1 })
      const applied = run?.phases.length ?? 0
      reached.add(applied)
      if (run) expect(run.state).toBe("interrupted")
      expect(stateOf(rig)).toEqual(states[applied]!)
      // The night is still owed.
      expect(rig.sleep.look()).toBe(true)
      await rig.sleep.settled()
      expect(stateOf(rig)).toEqual(states[4]!)
      expect(rig.sleep.look()).toBe(false)
      await rig.kernel.close(0)
    }
    // Kills fell behind every phase but the last, and before the first.
    expect([...reached].sort()).toEqual([0, 1, 2, 3, 4])
  },
  2 * PATIENCE_MS,
)
