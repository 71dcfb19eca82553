/** What fills the prompt: one row a piece, heaviest parts told in words above. Type to find a tool. */
import type { ContextReport, Weight } from "../../../schema/context-report.ts"
import { type Choice, ListBox, type ListBoxOptions } from "./list-box.ts"
import { safeLine } from "./safe-text.ts"

const tokens = (count: number): string => `${count.toLocaleString("en")} tokens`
const percent = (share: number): string => `${Math.floor(share * 100)} %`

export function createContextBox(
  report: ContextReport,
  around: Pick<ListBoxOptions, "theme" | "rows"> & { close(): void },
): ListBox {
  return new ListBox({
    theme: around.theme,
    rows: around.rows,
    title: () => "What fills the prompt",
    subtitle: () => totals(report),
    choices: () => contextRows(report),
    empty: () => "no piece by that name",
    keys: "Esc leave",
    onClose: around.close,
    onChoose: around.close,
  })
}

/** `12,345 tokens of 200,000 for claude · 97 % stable · last 91 % cached` */
function totals({ model, context_window, total, stable_share, last_trip }: ContextReport): string {
  const window = context_window === null ? "" : ` of ${context_window.toLocaleString("en")}`
  return [
    `${tokens(total.tokens)}${window} for ${safeLine(model)}`,
    `${percent(stable_share)} stable`,
    ...(last_trip ? [`last ${percent(last_trip.cached_share)} cached`] : []),
  ].join(" · ")
}

export function contextRows(report: ContextReport): Choice[] {
  const { system, tools, history, state, total } = report
  const part = (name: string, weights: readonly Weight[]): Choice[] => {
    const sum = weights.reduce((all, weight) => all + weight.tokens, 0)
    const head = { id: name, label: name, hint: hint(sum, total.tokens) }
    return [head, ...weights.map((weight) => row(name, weight))]
  }
  return [
    ...part("system", system),
    ...part(`tools (${tools.length})`, tools),
    ...part("history", history),
    ...part("state", state),
  ]
}

const row = (part: string, { name, tokens: count }: Weight): Choice => ({
  id: `${part}/${name}`,
  label: `  ${safeLine(name)}`,
  hint: tokens(count),
})

const hint = (count: number, of: number): string =>
  `${tokens(count)} · ${percent(of === 0 ? 0 : count / of)}`
