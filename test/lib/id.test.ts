import { expect, test } from "bun:test"
import { manualClock } from "../../src/lib/clock.ts"
import { idsWithin, isUuid, uuidV7 } from "../../src/lib/id.ts"

test("ids increase when the clock stands still, steps back, or starts again behind the last stored id", () => {
  const clock = manualClock(1_700_000_000_000)
  const newId = uuidV7(clock)
  const ids = Array.from({ length: 5000 }, newId)
  clock.set(1_600_000_000_000)
  ids.push(newId())
  const restarted = uuidV7(clock, ids.at(-1))
  ids.push(restarted(), restarted())
  expect(ids.every(isUuid)).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual([...ids].sort())
  expect(ids[0]![14]).toBe("7")
})

test("ids within a turn stay together, before every later turn, also when they come late", () => {
  const newId = uuidV7(manualClock(1_700_000_000_000))
  const first = newId()
  const second = newId()
  const early = idsWithin(first)
  const before = [early(), early()]
  const other = idsWithin(second)()
  const late = idsWithin(first, before.at(-1))
  const after = Array.from({ length: 5000 }, late)
  const all = [...before, ...after]
  expect(all).toEqual([...all].sort())
  expect(all.every((id) => id < other && isUuid(id))).toBe(true)
  expect(new Set(all).size).toBe(all.length)
})
