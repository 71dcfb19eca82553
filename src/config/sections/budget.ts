/** Section `budget`: spend is capped before a call leaves. */
import { Type } from "@sinclair/typebox"
import { decimal, flag } from "../field.ts"

const cap = (what: string, example: number) =>
  Type.Optional(
    decimal(`Most that ${what} may cost, USD; a call that could pass it is refused.`, {
      example,
      unset: "no cap",
    }),
  )

export const BudgetSection = Type.Object(
  {
    day: cap("a calendar day", 5),
    month: cap("a calendar month", 50),
    chat: cap("one chat", 10),
    job: cap("one run of a scheduled job", 1),
    agent: cap("one sub-agent", 1),
    allow_unpriced: flag("Models without known prices may be used although a cap is set.", {
      default: false,
    }),
  },
  { description: "Caps on spend, checked before a call leaves." },
)
