/** Section `context`: what of a chat's history a model is shown, and how much of it. */
import { Type } from "@sinclair/typebox"
import { choice, list, size, text, whole } from "../field.ts"

const COMPACT_SCOPES = ["body_after_prefix", "total"] as const
const PAST_TRAFFIC = ["keep", "stub", "drop"] as const

const compactAfter = (default_: number) =>
  whole("Tokens of history at which older parts of it are folded into a summary.", {
    default: default_,
    minimum: 1000,
  })

const compactKeep = (default_: number) =>
  whole(
    "Tokens of the newest history that a fold leaves as they are; at most half of the threshold.",
    { default: default_ },
  )

const Surface = Type.Object(
  {
    compact_after_tokens: compactAfter(16_000),
    compact_keep_tokens: compactKeep(5000),
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
  { compact_after_tokens: compactAfter(8000), compact_keep_tokens: compactKeep(2500) },
  { description: "Chats of scheduled jobs." },
)

const Project = Type.Object(
  {
    root_markers: list(
      "Names that tell the root of a project, looked for from the working directory upwards; an empty list does not climb.",
      text("A file or folder."),
      { default: [".git", ".jj", "flake.nix"] },
    ),
    max_bytes: size("Most bytes of all AGENTS.md together; 0 reads none.", { default: "16 KiB" }),
    memory_max_bytes: size("Most bytes of .eva/MEMORY.md; 0 reads none.", { default: "8 KiB" }),
  },
  { description: "What a project says about itself, read once a turn." },
)

const PLACEHOLDERS = "{used}, {limit} and {left} stand for tokens"

const Pressure = Type.Object(
  {
    notice: Type.Optional(
      text(`Says that the history nears its fold; ${PLACEHOLDERS}.`, { unset: "the kernel's own" }),
    ),
    wrap_up: Type.Optional(
      text(`Asks to finish before the fold, once; ${PLACEHOLDERS}.`, { unset: "the kernel's own" }),
    ),
    just_folded: Type.Optional(text("Said once after a fold.", { unset: "the kernel's own" })),
    wrap_up_reserve_tokens: whole("Tokens before the fold at which wrap_up is said.", {
      default: 8000,
    }),
  },
  { description: "What the model is told as its history nears the fold." },
)

export const ContextSection = Type.Object(
  {
    compact_after_tokens: compactAfter(40_000),
    compact_keep_tokens: compactKeep(12_000),
    compact_scope: choice(
      "What counts towards the threshold: the conversation alone, or persona, rules and tools as well.",
      COMPACT_SCOPES,
      { default: "body_after_prefix" },
    ),
    compact_verbatim_percent: whole(
      "Share of the threshold that the master's newest folded words fill, word for word, beside the summary.",
      { default: 15 },
    ),
    aggressive_folders: list(
      "Folders whose chats are folded as early as those of a surface.",
      text("A folder; one that ends in * stands for all that begin so."),
    ),
    pin_first_message_folders: list(
      "Folders whose chats keep their first message in sight when they are folded.",
      text("A folder; one that ends in * stands for all that begin so."),
    ),
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
    project: Project,
    pressure: Pressure,
  },
  { description: "What of a chat's history a model is shown." },
)
