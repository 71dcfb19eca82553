/** A kernel that falls asleep and kills itself at the given look at its clock: folder, now, look. */
import { manualClock } from "../../src/lib/clock.ts"
import { sleepRig } from "./rig.ts"
import { planStory, STORY_SETTINGS } from "./story.ts"

const [folder, now, killAt] = process.argv.slice(2)
const still = manualClock(Number(now))
let looks = Number.NEGATIVE_INFINITY
const clock = {
  ...still,
  now: () => {
    looks++
    if (looks === Number(killAt)) process.kill(process.pid, "SIGKILL")
    return still.now()
  },
}
const rig = await sleepRig({ folder: folder!, clock, planner: planStory, more: STORY_SETTINGS })
looks = 0
rig.sleep.look()
await rig.sleep.settled()
process.stdout.write("slept")
process.exit(0)
