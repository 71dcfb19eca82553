/** The search over everything said: what is asked and what is found. */

export const HISTORY_MATCHES = ["text", "words", "regex"] as const
export type HistoryMatch = (typeof HISTORY_MATCHES)[number]

export interface HistoryFilter {
  /** Only this chat. */
  chatId?: string
  /** `master`, `agent`, or the id of a person such as p7. */
  who?: string
  /** Said at or after, and said before: milliseconds since 1970. */
  from?: number
  to?: number
  /** A turn that is left out: the one that asks would find its own question. */
  exceptTurn?: string
  /** What the kernel and its tools put in, too. */
  includeService: boolean
}

export interface HistoryQuery extends HistoryFilter {
  query: string
  match: HistoryMatch
  limit: number
  /** Messages shown before and after each hit. */
  context: number
  /** Where a former page ended. */
  before?: number
}

export interface HistoryLine {
  /** When it was said, milliseconds since 1970. */
  at: number
  /** `master`, `agent`, the id of a person, or `guest`. */
  who: string
  /** On one line, cut where it is too long. */
  text: string
}

export interface HistoryHit extends HistoryLine {
  chatId: string
  title: string
  surface: string | null
  messageId: string
  /** What the kernel or a tool put in. */
  service: boolean
  earlier: HistoryLine[]
  later: HistoryLine[]
}

export interface HistoryPage {
  /** Newest first. */
  hits: HistoryHit[]
  /** Where the next page begins; absent when all has been looked through. */
  next?: number
  /** The time ran out: it was searched back to this instant, or not at all. */
  stoppedAt?: number
}
