/** What the conversation shows, out of the session's state: items, waiting turns, how turns failed. */
import { wrapTextWithAnsi } from "@earendil-works/pi-tui"
import type { SessionState } from "../session.ts"
import { safeText } from "./safe-text.ts"
import type { Theme } from "./theme.ts"
import type { TranscriptContent } from "./transcript.ts"

export function contentOf(
  { items, turns, failures }: SessionState,
  width: number,
  theme: Theme,
): TranscriptContent {
  const queued = turns.filter(({ state }) => state === "queued").map(({ id }) => id)
  return {
    items,
    queuedTurns: new Set(queued),
    afterTurn: new Map(
      failures.map(({ turnId, message }) => [turnId, failureLines(message, width, theme)]),
    ),
  }
}

const failureLines = (message: string, width: number, theme: Theme): string[] =>
  wrapTextWithAnsi(theme.bad(`✗ ${safeText(message).trim()}`), width)
