/** The lines around the input, for states that no kernel of a test comes into by itself. */
import { expect, test } from "bun:test"
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui"
import {
  activityLine,
  footerLine,
  isTicking,
  type Moment,
} from "../../../src/cli/chat/screen/status.ts"
import { createTheme } from "../../../src/cli/chat/screen/theme.ts"
import type { SessionState } from "../../../src/cli/chat/session.ts"

const theme = createTheme(true)
const CALM: SessionState = {
  connection: { state: "live" },
  kernel: undefined,
  chats: [],
  filter: {},
  folders: [],
  chat: undefined,
  items: [],
  hasOlder: false,
  turns: [],
  failures: [],
  activity: undefined,
  pending: [],
  usage: { promptTokens: 0, completionTokens: 0, cost: null, contextTokens: undefined },
  model: "shop/maker/brain-1",
  effort: "mid",
  models: undefined,
  notice: undefined,
}
const NOW: Moment = { nowMs: 0, hint: undefined, isScrolled: false }

const activity = (state: Partial<SessionState>, moment: Partial<Moment> = {}): string =>
  activityLine({ ...CALM, ...state }, { ...NOW, ...moment }, theme)
    .map(stripTerminalSequences)
    .join("\n")

test("of all that could be said the most urgent is said", () => {
  const lost = { state: "lost" as const, reason: "no answer", retryAtMs: 2500 }
  const running = { id: "t", state: "running" as const }
  expect(activity({})).toBe("")
  expect(activity({ connection: { state: "connecting" } })).toBe("connecting …")
  expect(activity({}, { isScrolled: true })).toBe("earlier messages · Ctrl+End: newest")
  expect(activity({ turns: [running] })).toBe("⠋ answering · Esc stops")
  expect(activity({ turns: [{ ...running, state: "cancelling" }] })).toContain("stopping")
  expect(activity({ turns: [running], activity: "trying again in 2 s" })).toContain("trying again")
  expect(activity({ turns: [running], notice: { text: "Full.", kind: "error" } })).toBe("Full.")
  expect(activity({ connection: lost })).toBe("connection lost: no answer · next try in 3 s")
  expect(activity({ connection: lost }, { nowMs: 9000 })).toContain("trying again")
  expect(activity({ connection: lost }, { hint: "Listen." })).toBe("Listen.")
  expect([isTicking(CALM), isTicking({ ...CALM, turns: [running] })]).toEqual([false, true])
})

test("a narrow footer gives up details first, then the title", () => {
  const state: SessionState = {
    ...CALM,
    chat: { title: "飲茶の時間", folder: "tea" } as SessionState["chat"],
    usage: { promptTokens: 1_234_567, completionTokens: 999, cost: 12.3, contextTokens: 50_000 },
    models: { context_windows: { "shop/maker/brain-1": 200_000 } } as unknown as NonNullable<
      SessionState["models"]
    >,
  }
  const footer = (width: number) => stripTerminalSequences(footerLine(state, width, theme))
  expect([80, 60, 40, 24, 10].map(footer)).toEqual([
    "飲茶の時間 (tea)                 brain-1 · mid · 25% of 200k · ↑1.2M ↓999 $12.30",
    "飲茶の時間…  brain-1 · mid · 25% of 200k · ↑1.2M ↓999 $12.30",
    "飲茶の時間…  brain-1 · ↑1.2M ↓999 $12.30",
    "飲茶の時間 (te…  brain-1",
    "brain-1",
  ])
  for (let width = 1; width < 100; width++)
    expect(visibleWidth(footer(width))).toBeLessThanOrEqual(width)
})
