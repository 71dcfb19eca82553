/** Section `context`: what of a chat's history a model is shown, and how much of it. */
import { Type } from "@sinclair/typebox"
import { choice, whole } from "../field.ts"

const PAST_TRAFFIC = ["keep", "stub", "drop"] as const

const compactAfter = (default_: number) =>
  whole("Tokens of history at which older parts of it are folded into a summary.", {
    default: default_,
    minimum: 1000,
  })

const Surface = Type.Object(
  {
    compact_after_tokens: compactAfter(16_000),
    history_limit: whole(
      "Utterances of people that a turn with an anchor sees at least; the window starts anew at multiples of it, so it holds less than twice as many. 0 shows all.",
      { default: 30 },
    ),
    past_tool_traffic: choice(
      "Overrides past_tool_traffic in turns that came through a surface.",
      PAST_TRAFFIC,
      { default: "drop" },
    ),
  },
  { description: "Chats of a surface, such as a messenger." },
)

const Cron = Type.Object(
  { compact_after_tokens: compactAfter(8000) },
  { description: "Chats of scheduled jobs." },
)

export const ContextSection = Type.Object(
  {
    compact_after_tokens: compactAfter(40_000),
    tool_result_max_chars: whole(
      "Most characters that a prompt holds of one tool result; the middle is cut out.",
      { default: 2000, minimum: 200 },
    ),
    reader_result_max_chars: whole(
      "The same for tools that read by windows, such as read_file; their tail is cut off.",
      { default: 8000, minimum: 1000 },
    ),
    tool_result_keep: whole(
      "Answers with tool calls whose traffic is fresh when a turn begins; what is older is shown in short.",
      { default: 6 },
    ),
    tool_result_keep_chars: whole(
      "Most characters of fresh tool traffic when a turn begins; 0 counts answers alone.",
      { default: 24_000 },
    ),
    past_tool_traffic: choice(
      "What becomes of tool traffic that is no longer fresh: kept whole, shown in short, or left out.",
      PAST_TRAFFIC,
      { default: "stub" },
    ),
    turn_squeeze_percent: whole(
      "Share of the folding threshold at which a running turn's own older traffic is shown in short; 0 never.",
      { default: 50 },
    ),
    client_context_chars: whole(
      "Most characters of what a trusted client adds to the prompt; the middle is cut out. 0 takes all.",
      { default: 32_000 },
    ),
    telegram: Surface,
    cron: Cron,
  },
  { description: "What of a chat's history a model is shown." },
)
