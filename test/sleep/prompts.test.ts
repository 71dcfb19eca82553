/** What the model is told in its sleep, word for word. */
import { afterEach, expect, test } from "bun:test"
import { DAY_MS, type SleepRig, sleepRig } from "./rig.ts"

let rig: SleepRig
afterEach(() => rig.dispose())

test("the prompts and the tool of each phase", async () => {
  rig = await sleepRig({ more: { memory: { half_life: "10days" } } })
  await rig.save("Anna plays the violin in the city", { importance: 1 })
  await rig.save("Anna plays the violin\nin the old city", { private: true, kind: "event" })
  rig.clock.advance(25 * DAY_MS)
  await rig.save("Anna plays the violin in the new city", { kind: "core" })
  await rig.night()
  for (const { phase, request } of rig.asked) {
    const shown = { system: request.system, messages: request.messages, tools: request.tools }
    expect(shown).toMatchSnapshot(phase)
  }
  expect(rig.asked.map(({ phase }) => phase)).toEqual(["cluster", "cluster", "forget", "kinds"])
})
