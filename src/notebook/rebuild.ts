/**
 * Rebuilds a notebook that has grown too large: one question to the model of the chat, and checks before its answer
 * takes the place of what it was made from. The old notebook stays in an archive, one step back.
 */
import { keyedQueue } from "../lib/async.ts"
import type { Clock } from "../lib/clock.ts"
import { errorText } from "../lib/error.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import { complete } from "../llm/complete.ts"
import type { Router } from "../llm/router.ts"
import type { PaidTrip } from "../schema/usage.ts"
import { type NotebookSize, type NotesSettings, sizeOf } from "./display.ts"
import { notebookOf, readDraft, textLength } from "./draft.ts"
import type { Notebook, StoredNote } from "./notebook.ts"
import instructions from "./rebuild.txt" with { type: "text" }

export interface RebuildParts {
  notebook: Pick<Notebook, "ofChat" | "replace" | "settings">
  router: Router
  clock: Clock
  newId: NewId
  log: Log
  /** The model that answers in the chat. Throws not_found. */
  modelOf(chatId: string): string
  /** What is told of the folded part of the chat's history; undefined when nothing is folded. */
  summaryOf(chatId: string): string | undefined
  /** In a transaction of its own. */
  recordSpend(trip: PaidTrip): void
}

export interface RebuildRequest {
  chatId: string
  /** The turn in which it happens. */
  turnId?: string
  /** Of that turn; absent, the chat's. */
  model?: string
  signal: AbortSignal
}

/** `failed` tells a model that gave no answer from an answer that was turned down. */
export type RebuildResult =
  | { rebuilt: true; size: NotebookSize }
  | { rebuilt: false; failed?: true; reason: string }

export type Rebuilds = ReturnType<typeof createRebuilds>

/** So much larger must a notebook be for another try after one that came to nothing. */
const STALLED_GROWTH = 1.2

export function createRebuilds(parts: RebuildParts) {
  const queue = keyedQueue<string>()
  /** What a notebook's text measured when its rebuild came to nothing. */
  const stalled = new Map<string, number>()
  return {
    /** Throws not_found for an unknown chat. What the model gets wrong is a result. */
    now: (request: RebuildRequest): Promise<RebuildResult> =>
      queue.run(request.chatId, () => rebuild(parts, request)),
    /** Rebuilds a notebook that is over its limits. Never throws: it costs no turn. */
    whenDue: (request: RebuildRequest): Promise<void> =>
      queue.run(request.chatId, () => rebuildWhenDue(parts, stalled, request)),
  }
}

async function rebuildWhenDue(
  parts: RebuildParts,
  stalled: Map<string, number>,
  request: RebuildRequest,
): Promise<void> {
  const { chatId } = request
  try {
    const notes = parts.notebook.ofChat(chatId)
    const length = textLength(notes)
    const isDue = isTooLarge(sizeOf(notes), parts.notebook.settings)
    if (!isDue || length < (stalled.get(chatId) ?? 0) * STALLED_GROWTH) return
    const { rebuilt } = await rebuild(parts, request)
    if (rebuilt) stalled.delete(chatId)
    else if (!request.signal.aborted) stalled.set(chatId, length)
  } catch (error) {
    parts.log.warn("the notebook could not be rebuilt", {
      ...{ chat_id: chatId, error: errorText(error) },
    })
  }
}

export const isTooLarge = (
  { chars, notes }: NotebookSize,
  { compact_at_chars, compact_at_notes }: NotesSettings,
): boolean => chars > compact_at_chars || notes > compact_at_notes

/** Of the target: what one try may fill, and what the one after it. */
const TRIES = [1, 1 / 2]

async function rebuild(parts: RebuildParts, request: RebuildRequest): Promise<RebuildResult> {
  const { notebook, log } = parts
  const { chatId } = request
  const before = notebook.ofChat(chatId)
  if (before.length === 0) return { rebuilt: false, reason: "there are no notes" }
  let reason = ""
  for (const share of TRIES) {
    const told = await ask(parts, request, { before, share })
    if ("failure" in told) {
      log.warn("the notebook could not be rebuilt", { chat_id: chatId, error: told.failure })
      return { rebuilt: false, failed: true, reason: told.failure }
    }
    const drafted = draftOf(parts, chatId, { before, ...told })
    if ("after" in drafted) return swap(parts, chatId, { before, after: drafted.after })
    reason = drafted.reason
    log.warn("a rebuilt notebook was turned down", { chat_id: chatId, reason })
  }
  return { rebuilt: false, reason }
}

function swap(
  { notebook, log }: RebuildParts,
  chatId: string,
  notes: { before: readonly StoredNote[]; after: readonly StoredNote[] },
): RebuildResult {
  if (!notebook.replace(chatId, notes)) {
    return { rebuilt: false, reason: "the notebook was changed meanwhile" }
  }
  const size = sizeOf(notes.after)
  log.info("the notebook was rebuilt", {
    ...{ chat_id: chatId, was: sizeOf(notes.before), is: size },
  })
  return { rebuilt: true, size }
}

/** The new notebook, or why the answer is none. */
function draftOf(
  { notebook, clock, newId, log }: RebuildParts,
  chatId: string,
  { before, text, cut }: { before: readonly StoredNote[]; text: string; cut: boolean },
): { after: StoredNote[] } | { reason: string } {
  if (cut) return { reason: "the answer was cut off" }
  const draft = readDraft(text, notebook.settings)
  if (draft.notes.length === 0) return { reason: "the answer holds no note" }
  const after = notebookOf(draft, before, { now: clock.now(), newId })
  const isSmaller = textLength(after) < textLength(before) && after.length <= before.length
  if (!isSmaller) return { reason: "the answer is no smaller than what it was made from" }
  if (draft.trimmed.length > 0) {
    log.warn("a rebuilt notebook was trimmed", { chat_id: chatId, trimmed: draft.trimmed })
  }
  return { after }
}

async function ask(
  { notebook, router, modelOf, summaryOf, recordSpend }: RebuildParts,
  request: RebuildRequest,
  { before, share }: { before: readonly StoredNote[]; share: number },
): Promise<{ text: string; cut: boolean } | { failure: string }> {
  const { settings } = notebook
  const { chatId, turnId, signal } = request
  const answer = await complete(router, {
    model: settings.model ?? request.model ?? modelOf(chatId),
    system: instructions.trim(),
    messages: [
      {
        role: "user",
        blocks: [
          { type: "text", text: question(before, { settings, share, told: summaryOf(chatId) }) },
        ],
      },
    ],
    signal,
    // A character is a token at worst; names and descriptions come on top.
    maxTokens: 2 * settings.compact_target_chars,
    spender: { chat: chatId },
  })
  const { usage } = answer
  if (usage.prompt_tokens + usage.completion_tokens > 0) {
    const model =
      "model" in answer ? answer.model : (settings.model ?? request.model ?? modelOf(chatId))
    const trip = { chatId, source: "notes", model, usage, reasoningCost: null }
    recordSpend({ ...trip, ...(turnId !== undefined && { turnId }) })
  }
  if ("failure" in answer) return { failure: answer.failure.message }
  return { text: answer.text, cut: answer.stop === "length" }
}

function question(
  notes: readonly StoredNote[],
  { settings, share, told }: { settings: NotesSettings; share: number; told: string | undefined },
): string {
  const chars = Math.floor(settings.compact_target_chars * share)
  const most = Math.max(1, Math.floor(settings.max_notes * share))
  const size = sizeOf(notes)
  const pinned = notes.filter((note) => note.pinned).map(({ name }) => name)
  const parts = [
    `The notebook has ${size.notes} notes with ${size.chars} characters in their bodies. It must fit into ${chars} characters and ${most} notes, and no body may have more than ${settings.max_note_chars} characters.`,
    pinned.length > 0 && `Pinned: ${pinned.join(", ")}.`,
    `== notebook\n${notes.map(asSection).join("\n\n")}`,
    told !== undefined &&
      `== summary of the conversation, only to be read\nIt shows which notes are finished. The agent has it before its eyes by another way: NEVER carry anything from here into the notes.\n${told.replaceAll(/^/gm, "> ")}`,
  ]
  return parts.filter(Boolean).join("\n\n")
}

const asSection = ({ name, description, body }: StoredNote): string =>
  `## ${name} | ${description}\n${body}`
