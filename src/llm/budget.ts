/**
 * The caps on spending, asked before a request leaves. What is under way counts at its worst case, so that
 * two turns at once cannot both take the last dollar.
 */
import type { ProviderFailure } from "./provider.ts"

export const BUDGET_SCOPES = ["day", "month", "chat", "job", "agent"] as const
export type BudgetScope = (typeof BUDGET_SCOPES)[number]

/** Whose money a trip spends; the day and the month are everybody's. */
export interface Spender {
  chat?: string
  job?: string
  agent?: string
}

export interface BudgetOptions {
  /** USD by scope; an absent scope has no cap. */
  caps: Partial<Record<BudgetScope, number>>
  /** Let models without prices through although a cap is set. */
  allowUnpriced: boolean
  /** USD spent so far; `id` is the chat, job or agent and is absent for the day and the month. */
  spent(scope: BudgetScope, id: string | undefined): number
}

/** A trip that may start; `release` it when its true cost is recorded or it ended without one. */
export type Admission = { failure: ProviderFailure } | { release(): void }

export interface Budget {
  admit(trip: { model: string; worstCase: number | null; spender: Spender }): Admission
}

export function createBudget(options: BudgetOptions): Budget {
  const underWay = new Map<string, number>()
  const free: Admission = { release: () => {} }

  const admit: Budget["admit"] = ({ model, worstCase, spender }) => {
    const accounts = accountsOf(options.caps, spender)
    if (accounts.length === 0) return free
    if (worstCase === null) return options.allowUnpriced ? free : { failure: unpriced(model) }
    for (const { scope, id, cap } of accounts) {
      const spent = options.spent(scope, id) + (underWay.get(keyOf(scope, id)) ?? 0)
      if (spent + worstCase > cap)
        return { failure: overCap({ scope, cap, spent, worstCase, model }) }
    }
    const shift = (amount: number): void => {
      for (const { scope, id } of accounts) addTo(underWay, keyOf(scope, id), amount)
    }
    shift(worstCase)
    return { release: () => shift(-worstCase) }
  }
  return { admit }
}

interface Account {
  scope: BudgetScope
  id: string | undefined
  cap: number
}

function accountsOf(caps: BudgetOptions["caps"], spender: Spender): Account[] {
  return BUDGET_SCOPES.flatMap((scope) => {
    const cap = caps[scope]
    const shared = scope === "day" || scope === "month"
    const id = shared ? undefined : spender[scope]
    return cap === undefined || (!shared && id === undefined) ? [] : [{ scope, id, cap }]
  })
}

const keyOf = (scope: BudgetScope, id: string | undefined): string => `${scope}:${id ?? ""}`

/** Amounts that cancel out leave the map, rounding dust included. */
function addTo(amounts: Map<string, number>, key: string, amount: number): void {
  const total = (amounts.get(key) ?? 0) + amount
  if (total < 1e-9) amounts.delete(key)
  else amounts.set(key, total)
}

const usd = (amount: number): string => `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`

const unpriced = (model: string): ProviderFailure => ({
  class: "budget",
  message: `${model} has no prices, so the spending cap cannot be kept: give it price_in and price_out, or set budget.allow_unpriced`,
})

const overCap = (at: {
  scope: BudgetScope
  cap: number
  spent: number
  worstCase: number
  model: string
}): ProviderFailure => ({
  class: "budget",
  message: `budget.${at.scope} allows ${usd(at.cap)}; ${usd(at.spent)} is spent or under way, and this request to ${at.model} may cost ${usd(at.worstCase)}`,
})
