/** Searches what was said, newest first, within a limit of work. Runs in the search thread. */
import { tryParseJson } from "../lib/json.ts"
import { head } from "../lib/text.ts"
import type {
  HistoryHit,
  HistoryLine,
  HistoryPage,
  HistoryQuery,
} from "../schema/history-search.ts"
import type { Block } from "../schema/message.ts"
import { fold } from "./fold.ts"
import { endless, type Needle, needleOf, type Span } from "./needle.ts"
import { type Said, saidIn } from "./said.ts"
import type { CandidateRow, NeighbourRow, SearchReads } from "./store/search-reads.ts"

/** A regular expression that works on one text for so long does not come to its end with it. */
const TEXT_LIMIT_MS = 100
/** Shown of a hit on each side of the match, and of a neighbour. */
const SNIPPET_SIDE = 120
const NEIGHBOUR_MAX = 200
/** Neighbours are looked for among so many messages on each side: between them are tools' results. */
const NEIGHBOURS_AMONG = 24

export interface SearchOptions {
  reads: SearchReads
  /** What this thread has worked so far, in milliseconds: waiting for a busy machine is no work. */
  workedMs(): number
  /** After so much work it says how far it came. */
  limitMs: number
}

/** Throws KernelError("invalid") for a query that cannot be searched for. */
export function search(options: SearchOptions, query: HistoryQuery): HistoryPage {
  const { reads, workedMs, limitMs } = options
  const needle = bounded(needleOf(query.query, query.match), options)
  const end = workedMs() + limitMs
  const before = query.before ?? Number.MAX_SAFE_INTEGER
  const hits: HistoryHit[] = []
  for (const row of reads.candidates(needle.groups, before, query)) {
    if (workedMs() >= end) {
      return { hits, next: 2 * row.doc + 2, stoppedAt: row.created_at }
    }
    for (const { entry, text, span } of matchesIn(row, needle, query.includeService)) {
      if (entry >= before) continue
      if (hits.length === query.limit) return { hits, next: entry + 1 }
      hits.push(hitOf(reads, { row, text, span, service: entry % 2 === 1 }, query.context))
    }
  }
  return { hits }
}

/** The engine gives a hopeless match up by itself, and says no: that must not pass for an answer. */
const bounded = ({ find, ...needle }: Needle, { workedMs }: SearchOptions): Needle => ({
  ...needle,
  find: (text, folded) => {
    const start = workedMs()
    const span = find(text, folded)
    if (!span && workedMs() - start > TEXT_LIMIT_MS) throw endless()
    return span
  },
})

interface Match {
  entry: number
  text: string
  span: Span
}

/** Of the entries that are candidates, the service text first: that is their order from the newest. */
function* matchesIn(row: CandidateRow, needle: Needle, withService: boolean): Generator<Match> {
  if (!needle.mayBeIn(row.blocks)) return
  const said = saidOf(row)
  const speech = { entry: 2 * row.doc, text: said.speech }
  const service = { entry: 2 * row.doc + 1, text: said.service }
  for (const { entry, text } of withService ? [service, speech] : [speech]) {
    if (text === "" || (row.entry !== null && row.entry !== entry)) continue
    const span = needle.find(text, fold(text))
    if (span) yield { entry, text, span }
  }
}

function saidOf({ blocks }: Pick<CandidateRow, "blocks">): Said {
  const parsed = tryParseJson(blocks)?.value
  return saidIn(Array.isArray(parsed) ? (parsed as Block[]) : [])
}

interface Found extends Omit<Match, "entry"> {
  row: CandidateRow
  service: boolean
}

function hitOf(
  reads: SearchReads,
  { row, text, span, service }: Found,
  context: number,
): HistoryHit {
  const { chat_id: chatId, message_id: messageId } = row
  const { title, surface, ...message } = reads.details(chatId, messageId)
  return {
    ...{ chatId, messageId, title, surface, service },
    at: row.created_at,
    who: whoSaid(message),
    text: snippet(text, span),
    earlier: spoken(
      context && reads.earlier(chatId, messageId, NEIGHBOURS_AMONG),
      context,
    ).reverse(),
    later: spoken(context && reads.later(chatId, messageId, NEIGHBOURS_AMONG), context),
  }
}

function spoken(rows: 0 | readonly NeighbourRow[], count: number): HistoryLine[] {
  const lines: HistoryLine[] = []
  for (const row of rows || []) {
    if (lines.length === count) break
    const text = oneLine(saidOf(row).speech)
    if (text === "") continue
    const shown = text.length > NEIGHBOUR_MAX ? `${head(text, NEIGHBOUR_MAX)}…` : text
    lines.push({ at: row.created_at, who: whoSaid(row), text: shown })
  }
  return lines
}

function whoSaid({ role, sender, master }: Pick<NeighbourRow, "role" | "sender" | "master">) {
  if (role === "assistant") return "agent"
  return sender ?? (master === 1 ? "master" : "guest")
}

/** The match with what stands around it, cut between characters. */
function snippet(text: string, { start, end }: Span): string {
  const from = boundary(text, Math.max(0, start - SNIPPET_SIDE))
  const to = boundary(text, Math.min(text.length, Math.min(end, start + 400) + SNIPPET_SIDE))
  const shown = oneLine(text.slice(from, to))
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`
}

/** The position itself, or the one before it when that splits a character. */
const boundary = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

const oneLine = (text: string): string => text.replace(/\s+/gu, " ").trim()
