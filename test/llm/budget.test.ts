import { expect, test } from "bun:test"
import { type Admission, createBudget } from "../../src/llm/budget.ts"

const trip = { model: "m", worstCase: 0.4, spender: { chat: "c1" } }
const messageOf = (admission: Admission) =>
  "failure" in admission ? admission.failure.message : "admitted"
const release = (admission: Admission) => {
  if ("release" in admission) admission.release()
}

test("a trip is refused when its worst case would pass a cap", () => {
  const spent = { day: 1, month: 5, chat: 0.2, job: 0, agent: 0 }
  const budget = createBudget({
    caps: { day: 2, chat: 0.5 },
    allowUnpriced: false,
    spent: (scope) => spent[scope],
  })
  expect(budget.admit(trip)).toMatchObject({ failure: { class: "budget" } })
  expect(messageOf(budget.admit(trip))).toBe(
    "budget.chat allows $0.50; $0.20 is spent or under way, and this request to m may cost $0.40",
  )
  expect(messageOf(budget.admit({ ...trip, spender: {} }))).toBe("admitted")
})

test("trips under way count at their worst case until they are released", () => {
  const budget = createBudget({ caps: { day: 1 }, allowUnpriced: false, spent: () => 0 })
  const first = budget.admit(trip)
  budget.admit({ ...trip, spender: { chat: "c2" } })
  expect(messageOf(budget.admit(trip))).toContain("$0.80 is spent or under way")
  release(first)
  expect(messageOf(budget.admit(trip))).toBe("admitted")
})

test("a model without prices is refused under a cap unless that is allowed", () => {
  const unpriced = { ...trip, worstCase: null }
  const options = { caps: { month: 1 }, spent: () => 0 }
  expect(messageOf(createBudget({ ...options, allowUnpriced: false }).admit(unpriced))).toContain(
    "m has no prices",
  )
  expect(messageOf(createBudget({ ...options, allowUnpriced: true }).admit(unpriced))).toBe(
    "admitted",
  )
  expect(
    messageOf(createBudget({ ...options, caps: {}, allowUnpriced: false }).admit(unpriced)),
  ).toBe("admitted")
})
