/** What is left of the folded part of a chat's history: its summary, and the master's newest words of it. */
import { KernelError, notFound } from "../lib/error.ts"
import { parseJson } from "../lib/json.ts"
import { cleanText } from "../lib/text.ts"
import type { ChatEvent } from "../schema/event.ts"
import { MACHINE_TEXT } from "../schema/machine-text.ts"
import type { VerbatimLine } from "../schema/summary.ts"
import type { Store } from "../store/open.ts"
import type { Messages } from "./messages.ts"
import { type ChatStore, createChatStore, type SummaryRow } from "./store.ts"

/** The folded part of a history. */
export interface FoldedPast {
  text: string
  /** What the master said in it, word for word, oldest first. */
  verbatim: readonly VerbatimLine[]
  /** The newest message of it. */
  upto: string
}

/** One-time lines of the prompt that belong to a window: the history between two folds. */
export type Nudge = "notes" | "wrap"

/** The columns of a chat of which nothing is folded. */
export const NO_SUMMARY: SummaryRow = {
  ...{ summary: null, summary_upto: null, summary_verbatim: null },
  ...{ notes_nudged_upto: null, wrap_nudged_upto: null },
}

/** Stands for the window before the first fold. */
const BEFORE_ANY = ""

export interface SummariesOptions {
  store: Store
  messages: Pick<Messages, "append" | "get">
  emit(chatId: string, event: ChatEvent): void
}

export type Summaries = ReturnType<typeof createSummaries>

export function createSummaries(options: SummariesOptions) {
  const { store, messages, emit } = options
  const rows = createChatStore(store.db)
  const upto = (chatId: string) => rowOf(rows, chatId).summary_upto

  return {
    /** Undefined when nothing is folded, and when the newest folded message is not there any more. */
    get: (chatId: string): FoldedPast | undefined =>
      foldedPast(rowOf(rows, chatId), chatId, messages),
    /**
     * A fold: summary, the master's words, the end of the count that no longer holds, and the mark in the feed,
     * all on disk or nothing. False when the chat was folded, cut or cleared since `before` was read.
     */
    fold: (chatId: string, { before, past, turnId, markId }: Fold): boolean => {
      const stored = store.write(() => {
        const isStale = upto(chatId) !== (before ?? null) || !messages.get(chatId, past.upto)
        if (isStale) return false
        rows.updateChat(chatId, { ...columnsOf(past), ctx_tokens: null, ctx_upto: null })
        messages.append([
          { ...markOf(chatId, turnId), ...(markId !== undefined && { id: markId }) },
        ])
        return true
      })
      if (stored && turnId === null) emit(chatId, { type: "messages_changed", reason: "compacted" })
      return stored
    },
    /** Another telling of the same part. False when the chat was folded, cut or cleared since. */
    replace: (chatId: string, { before, past }: Pick<Fold, "before" | "past">): boolean =>
      store.write(() => {
        if (upto(chatId) !== before) return false
        rows.updateChat(chatId, columnsOf(past))
        return true
      }),
    /** Replaces the words of the summary. Throws conflict when nothing is folded. */
    setText: (chatId: string, text: string): void => {
      store.write(() => {
        if (upto(chatId) === null) throw nothingFolded()
        rows.updateChat(chatId, { summary: cleanText(text).trim() })
      })
    },
    /** Whether the line was shown in the present window. */
    isNudged: (chatId: string, nudge: Nudge): boolean => {
      const row = rowOf(rows, chatId)
      return row[`${nudge}_nudged_upto`] === (row.summary_upto ?? BEFORE_ANY)
    },
    setNudged: (chatId: string, nudge: Nudge): void => {
      store.write(() => {
        rows.updateChat(chatId, { [`${nudge}_nudged_upto`]: upto(chatId) ?? BEFORE_ANY })
      })
    },
  }
}

export interface Fold {
  /** The newest folded message as it was read before; undefined for none. */
  before: string | undefined
  past: FoldedPast
  /** The turn in which it happens, null outside of one. */
  turnId: string | null
  /** The id of the mark, where ids of a turn keep together. */
  markId?: string | undefined
}

const nothingFolded = () =>
  new KernelError(
    "conflict",
    "nothing of this chat is folded yet, so there is no summary to replace",
  )

function rowOf(rows: ChatStore, chatId: string): SummaryRow {
  const row = rows.summary(chatId)
  if (!row) throw notFound("chat", chatId)
  return row
}

/** A missing anchor shows the whole history rather than a hole. */
function foldedPast(
  { summary, summary_upto: upto, summary_verbatim }: SummaryRow,
  chatId: string,
  messages: SummariesOptions["messages"],
): FoldedPast | undefined {
  if (summary === null || upto === null || !messages.get(chatId, upto)) return undefined
  return { text: summary, upto, verbatim: parseJson(summary_verbatim ?? "[]") as VerbatimLine[] }
}

const columnsOf = ({ text, upto, verbatim }: FoldedPast): Partial<SummaryRow> => ({
  summary: cleanText(text),
  summary_upto: upto,
  summary_verbatim: JSON.stringify(
    verbatim.map((line) => ({ ...line, text: cleanText(line.text) })),
  ),
})

const markOf = (chatId: string, turnId: string | null) => ({
  ...{ chat_id: chatId, turn_id: turnId, role: "user" as const, master: false },
  blocks: [{ type: "text" as const, text: MACHINE_TEXT.compaction_marker.marker }],
})

/** What a branch takes over: the summary when all that it tells of was copied, with the lines already shown. */
export function inheritedSummary(
  parent: SummaryRow | null,
  newIdOf: (id: string) => string | undefined,
): SummaryRow {
  const upto = newIdOf(parent?.summary_upto ?? "")
  if (!parent || upto === undefined) return NO_SUMMARY
  const rebound = (nudged: string | null) => (nudged === parent.summary_upto ? upto : null)
  return {
    ...parent,
    summary_upto: upto,
    notes_nudged_upto: rebound(parent.notes_nudged_upto),
    wrap_nudged_upto: rebound(parent.wrap_nudged_upto),
  }
}
