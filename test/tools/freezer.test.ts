import { expect, test } from "bun:test"
import { createFreezer } from "../../src/tools/freezer.ts"
import { guestIdentity, makeTool, masterIdentity, reachTurn, registryOf } from "../support/tools.ts"

const names = (tools: { specs: readonly { name: string }[] }): string[] =>
  tools.specs.map(({ name }) => name)

test("turns that may reach the same are given the same object, whoever asks", () => {
  const freeze = createFreezer(registryOf(makeTool()))
  expect(freeze(reachTurn())).toBe(freeze(reachTurn()))
})

test("whatever decides on a tool tells turns apart", () => {
  const registry = registryOf(
    makeTool({ name: "open" }),
    makeTool({ name: "kept", gates: ["master_only"] }),
  )
  const freeze = createFreezer(registry)
  expect(names(freeze(reachTurn({ identity: masterIdentity() })))).toEqual(["kept", "open"])
  expect(names(freeze(reachTurn({ identity: guestIdentity() })))).toEqual(["open"])
  const reserved = { onDemand: ["open"], identity: masterIdentity() }
  expect(names(freeze(reachTurn(reserved)))).toEqual(["kept"])
  expect(names(freeze(reachTurn({ ...reserved, opened: ["open"] })))).toEqual(["kept", "open"])
  const toolset = { kind: "only", names: ["open"] } as const
  expect(names(freeze(reachTurn({ identity: masterIdentity(), toolset })))).toEqual(["open"])
})

test("a tool that has come or gone is in the next snapshot, and the last one stays as it was", () => {
  const registry = registryOf(makeTool({ name: "first" }))
  const freeze = createFreezer(registry)
  const before = freeze(reachTurn())
  registry.register(makeTool({ name: "second", group: "late" }))
  expect(names(freeze(reachTurn()))).toEqual(["second", "first"])
  expect(names(before)).toEqual(["first"])
  registry.removeGroup("late", "the module went")
  expect(names(freeze(reachTurn()))).toEqual(["first"])
})

test("the one that was asked for longest ago is made anew when too many are known", () => {
  const freeze = createFreezer(registryOf(makeTool()))
  const turn = (at: number) => reachTurn({ opened: [`tool_${at}`] })
  const oldest = freeze(turn(0))
  const second = freeze(turn(1))
  for (let at = 2; at < 64; at++) freeze(turn(at))
  expect(freeze(turn(0))).toBe(oldest)
  freeze(turn(64))
  expect(freeze(turn(0))).toBe(oldest)
  expect(freeze(turn(1))).not.toBe(second)
})
