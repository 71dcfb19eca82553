/** The lines around the input: what happens right now above it, where one is and what it costs below it. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui"
import type { ChatUsage, SessionState } from "../session.ts"
import { safeLine } from "./safe-text.ts"
import type { Theme } from "./theme.ts"

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
/** How long one frame of the spinner stands. */
export const SPINNER_MS = 100

export interface Moment {
  nowMs: number
  /** A word of the screen itself, such as how to leave; it comes before the kernel's. */
  hint: string | undefined
  isScrolled: boolean
}

/** Whether something on these lines changes with time alone. */
export const isTicking = ({ turns, connection }: SessionState): boolean =>
  turns.length > 0 || connection.state !== "live"

/** What happens: at most one line, empty when nothing does. */
export function activityLine(state: SessionState, moment: Moment, theme: Theme): string[] {
  const words = activity(state, moment, theme)
  return words === undefined ? [] : [words]
}

function activity(state: SessionState, moment: Moment, theme: Theme): string | undefined {
  const { connection, notice, turns } = state
  if (moment.hint !== undefined) return theme.warn(moment.hint)
  if (connection.state === "lost") {
    const seconds = Math.max(0, Math.ceil((connection.retryAtMs - moment.nowMs) / 1000))
    const next = seconds === 0 ? "trying again" : `next try in ${seconds} s`
    return theme.bad(`connection lost: ${safeLine(connection.reason)} · ${next}`)
  }
  if (notice) return (notice.kind === "error" ? theme.bad : theme.accent)(safeLine(notice.text))
  const running = turns.find((turn) => turn.state !== "queued")
  const queued = turns.filter((turn) => turn.state === "queued").length
  if (turns.length > 0) {
    const frame = SPINNER[Math.floor(moment.nowMs / SPINNER_MS) % SPINNER.length] ?? ""
    const doing = running?.state === "cancelling" ? "stopping" : (state.activity ?? "answering")
    const waiting = queued > 0 ? ` · ${queued} queued` : ""
    return `${theme.accent(frame)} ${safeLine(doing)}${theme.dim(`${waiting} · Esc stops`)}`
  }
  if (connection.state === "connecting") return theme.dim("connecting …")
  if (moment.isScrolled) return theme.dim("earlier messages · Ctrl+End: newest")
  return undefined
}

/** Where one is, who answers, what it took. Narrow terminals lose the left end first, then the details. */
export function footerLine(state: SessionState, width: number, theme: Theme): string {
  const folder = state.chat && state.chat.folder !== "default" ? ` (${state.chat.folder})` : ""
  const place = safeLine(`${state.chat?.title || "new chat"}${folder}`)
  const details = [
    shortModel(state.model),
    state.effort,
    contextText(state),
    costText(state.usage),
  ].filter((text) => text !== "")
  while (details.length > 1 && visibleWidth(details.join(" · ")) > width - 8) details.splice(1, 1)
  const right = truncateToWidth(details.join(" · "), width, "…")
  const room = width - visibleWidth(right) - 2
  if (room < 4) return theme.dim(right)
  const left = truncateToWidth(place, room, "…")
  const gap = " ".repeat(width - visibleWidth(left) - visibleWidth(right))
  return `${theme.bold(left)}${gap}${theme.dim(right)}`
}

/** `openrouter/anthropic/claude` → `claude`: the rest says who sells it. */
const shortModel = (model: string): string => safeLine(model.split("/").at(-1) ?? "")

function contextText({ usage, models, model }: SessionState): string {
  const used = usage.contextTokens
  if (used === undefined) return ""
  const whole = models?.context_windows[model]
  return whole ? `${Math.round((used / whole) * 100)}% of ${tokens(whole)}` : `ctx ${tokens(used)}`
}

/** Tokens in and out and what they cost, where a price is known. */
function costText({ promptTokens, completionTokens, cost }: ChatUsage): string {
  if (promptTokens === 0 && completionTokens === 0) return ""
  const amount = cost === null ? "" : ` $${cost.toFixed(cost < 1 ? 4 : 2)}`
  return `↑${tokens(promptTokens)} ↓${tokens(completionTokens)}${amount}`
}

function tokens(count: number): string {
  if (count < 1000) return String(count)
  const [scaled, unit] = count < 1_000_000 ? [count / 1000, "k"] : [count / 1_000_000, "M"]
  return `${scaled.toFixed(scaled < 100 ? 1 : 0).replace(/\.0$/, "")}${unit}`
}

/** What stands in the empty window of a new chat. */
export function welcomeLines({ kernel }: SessionState, width: number, theme: Theme): string[] {
  const where = kernel ? `eva-kernel ${kernel.version} · ${kernel.url}` : "eva-kernel"
  const lines = [
    theme.bold(where),
    theme.dim("Type a message. / lists commands, ? shows the keys."),
  ]
  return lines.map((line) => truncateToWidth(line, width, "…"))
}
