/** The line `[window]`: how near the history is to its fold. The texts may be the operator's own. */
import { MACHINE_TEXT } from "../../schema/machine-text.ts"
import justFolded from "./window-just-folded.txt" with { type: "text" }
import notice from "./window-notice.txt" with { type: "text" }
import wrapUp from "./window-wrap-up.txt" with { type: "text" }

/** Tokens. */
export interface WindowFigures {
  used: number
  limit: number
  left: number
}

export type WindowStep = "notice" | "wrap_up" | "just_folded"

const OWN_TEXTS: Record<WindowStep, string> = { notice, wrap_up: wrapUp, just_folded: justFolded }

/** The marker is always the kernel's, so that the line is known for machine text whatever it says. */
export function windowLine(
  step: WindowStep,
  figures: WindowFigures,
  texts: Partial<Record<WindowStep, string>>,
): string {
  const said = (texts[step] ?? OWN_TEXTS[step]).trim()
  const filled = said.replaceAll(/\{(used|limit|left)\}/g, (_, name: keyof WindowFigures) =>
    String(figures[name]),
  )
  return `${MACHINE_TEXT.window.marker} ${filled}`
}
