/** The tool `history_search`. */
import { type Static, Type } from "@sinclair/typebox"
import { HISTORY_MATCHES, type HistoryQuery } from "../schema/history-search.ts"
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts"
import type { History } from "./history.ts"
import { pageText } from "./page-text.ts"

const LIMITS = { query: 500, hits: 50, context: 3 } as const
const DEFAULT_HITS = 10

const SearchInput = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: LIMITS.query }),
    match: Type.Optional(
      Type.Unsafe<HistoryQuery["match"]>(
        Type.String({
          enum: [...HISTORY_MATCHES],
          description: "text (default): this exact text; words: all of these whole words; regex",
        }),
      ),
    ),
    chat_id: Type.Optional(Type.String({ description: "Only this chat; `here` for this one" })),
    who: Type.Optional(Type.String({ description: "master, agent, or a person such as p7" })),
    from: Type.Optional(Type.String({ description: "ISO 8601 date or instant, UTC" })),
    to: Type.Optional(Type.String({ description: "Said before this" })),
    context: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.context,
        description: "Messages shown around each hit",
      }),
    ),
    include_service: Type.Optional(
      Type.Boolean({ description: "Kernel notes and tool traffic, too" }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.hits })),
    before: Type.Optional(Type.Integer({ minimum: 1, description: "The next page of a search" })),
  },
  { additionalProperties: false },
)
type SearchInput = Static<typeof SearchInput>

export interface HistoryToolOptions {
  history: Pick<History, "search">
  /** The name of a person by its id. */
  personName(id: string): string | undefined
}

export const historyTools = ({ history, personName }: HistoryToolOptions): Tool[] => [
  {
    name: "history_search",
    group: "history",
    icon: "🔎",
    brief: "{query}",
    description:
      "Searches what was said in all chats, newest first, without case. Where others may read along it searches this chat only.",
    input: SearchInput,
    gates: ["master_only"],
    traits: { windowed: true, concurrent: true },
    run: async (context, input) => {
      const page = await history.search(queryOf(input as SearchInput, context))
      return {
        output: pageText(page, personName),
        ...(page.hits.length === 0 && { uneventful: true }),
      }
    },
  },
]

function queryOf(input: SearchInput, context: ToolContext): HistoryQuery {
  const { query, match = "text", who, before, limit = DEFAULT_HITS } = input
  const chatId = chatOf(input, context)
  const from = instantOf("from", input.from)
  const to = instantOf("to", input.to)
  return {
    ...{ query, match, limit, context: input.context ?? 0 },
    includeService: input.include_service ?? false,
    exceptTurn: context.turnId,
    ...(chatId !== undefined && { chatId }),
    ...(who !== undefined && { who: who.trim().toLowerCase() }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(before !== undefined && { before }),
  }
}

/** What was said elsewhere must not come up where others may read along. */
function chatOf({ chat_id: wanted }: SearchInput, context: ToolContext): string | undefined {
  const chatId = wanted === "here" ? context.chatId : wanted
  if (context.identity.trusted) return chatId
  if (chatId === undefined || chatId === context.chatId) return context.chatId
  throw new ToolFailure(
    "others may read along here, so only this chat can be searched; the master can ask in a chat of his own",
  )
}

function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const at = Date.parse(text)
  if (!Number.isNaN(at)) return at
  throw new ToolFailure(`${name} must be a date such as 2026-11-30 or 2026-11-30T18:00:00Z`)
}
