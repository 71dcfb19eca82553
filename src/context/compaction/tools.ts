/** Tools about the summary of a chat: folding now, telling it anew, reading and replacing it. */
import { type Static, Type } from "@sinclair/typebox"
import type { Chats } from "../../chats/chats.ts"
import type { Summaries } from "../../chats/summaries.ts"
import { COMPACT_PROFILES, SUMMARY_MAX_CHARS } from "../../schema/summary.ts"
import { type Tool, type ToolContext, ToolFailure } from "../../tools/tool.ts"
import type { FoldResult } from "./compaction.ts"
import type { HandFolds } from "./hand-folds.ts"

export interface CompactionToolParts {
  folds: HandFolds
  summaries: Pick<Summaries, "get" | "setText">
  chats: Pick<Chats, "setCompactProfile">
}

const closed = { additionalProperties: false }
const NoInput = Type.Object({}, closed)
const SetInput = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: SUMMARY_MAX_CHARS }) },
  closed,
)
const ProfileInput = Type.Object(
  {
    profile: Type.Unsafe<(typeof COMPACT_PROFILES)[number] | "auto">(
      Type.String({
        enum: [...COMPACT_PROFILES, "auto"],
        description: "low folds soonest, high last; auto: by what the chat is",
      }),
    ),
  },
  closed,
)

const common = { group: "chat", gates: ["master_only" as const] }

export const compactionTools = (parts: CompactionToolParts): Tool[] => [
  compactTool(parts),
  rebuildTool(parts),
  readTool(parts),
  replaceTool(parts),
  profileTool(parts),
]

const askedIn = ({ turnId, signal, source, progress }: ToolContext) => ({
  ...{ signal, source },
  turn: { id: turnId },
  progress: (done: number, all: number) => progress(`stretch ${done + 1} of ${all}`),
})

/** Throws ToolFailure for what was not done. */
function done(result: FoldResult): Extract<FoldResult, { folded: true }> {
  if (result.folded) return result
  throw new ToolFailure(`nothing was folded: ${result.reason}`)
}

const compactTool = ({ folds }: CompactionToolParts): Tool => ({
  ...common,
  name: "chat_compact",
  icon: "🗜",
  description:
    "Folds what was said in this chat before this turn into its summary now. Messages stay stored and searchable.",
  input: NoInput,
  traits: {},
  run: async (context) => {
    const { messages, freedTokens } = done(await folds.fold(context.chatId, askedIn(context)))
    return { output: `folded ${messages} messages, about ${freedTokens} tokens are free` }
  },
})

const rebuildTool = ({ folds }: CompactionToolParts): Tool => ({
  ...common,
  name: "chat_rebuild",
  icon: "🗜",
  description:
    "Writes the summary of this chat anew out of the folded messages themselves, for when it went wrong. Takes a while.",
  input: NoInput,
  traits: {},
  run: async (context) => {
    const { messages, past } = done(await folds.rebuild(context.chatId, askedIn(context)))
    return { output: `the summary was written anew out of ${messages} messages:\n${past.text}` }
  },
})

const readTool = ({ summaries }: CompactionToolParts): Tool => ({
  ...common,
  name: "chat_summary_get",
  icon: "📄",
  description: "The summary of what was folded of this chat, whole.",
  input: NoInput,
  traits: { uncapped: true, concurrent: true },
  run: async ({ chatId }) => {
    const past = summaries.get(chatId)
    return past
      ? { output: past.text }
      : { output: "nothing of this chat is folded", uneventful: true }
  },
})

const replaceTool = ({ summaries }: CompactionToolParts): Tool => ({
  ...common,
  name: "chat_summary_set",
  icon: "📝",
  description:
    "Replaces the summary of what was folded of this chat: read it first and keep what still holds.",
  input: SetInput,
  traits: {},
  run: async ({ chatId }, input) => {
    summaries.setText(chatId, (input as Static<typeof SetInput>).text)
    return { output: "replaced" }
  },
})

const profileTool = ({ chats }: CompactionToolParts): Tool => ({
  ...common,
  name: "chat_compact_profile",
  icon: "🎚",
  description: "Settles how soon this chat's older history is folded.",
  input: ProfileInput,
  traits: {},
  run: async ({ chatId }, input) => {
    const { profile } = input as Static<typeof ProfileInput>
    chats.setCompactProfile(chatId, profile === "auto" ? null : profile)
    return { output: `profile: ${profile}` }
  },
})
