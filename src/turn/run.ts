/** Runs one admitted turn from its entry to its last event. Whatever breaks, the turn ends in words. */
import { errorText } from "../lib/error.ts"
import { idsWithin } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { Effort } from "../schema/effort.ts"
import { EFFORT_LEVELS } from "../schema/effort.ts"
import type { Message } from "../schema/message.ts"
import { createCatalogue } from "./catalogue.ts"
import { extraTools } from "./extra-tools.ts"
import type { LiveTurn } from "./live.ts"
import { loadConversation } from "./load-conversation.ts"
import { endOfFault, type LoopEnd, runLoop } from "./loop.ts"
import { effortOf, firstToolset, modeOf, turnReach } from "./mode.ts"
import { enterNotebook } from "./notebook.ts"
import type { TurnParts } from "./parts.ts"
import { projectFor } from "./project.ts"
import { recallFor } from "./recall.ts"
import type { RunningTurn } from "./running-turn.ts"
import type { TurnSpec } from "./spec.ts"
import type { TurnStore } from "./store.ts"
import { createStreak } from "./stuck.ts"

export interface TurnRun {
  parts: TurnParts
  rows: TurnStore
  spec: TurnSpec
  live: LiveTurn
  signal: AbortSignal
  /** Messages without a turn that a provider refused as they stand. */
  refusedMessages: Set<string>
  onStart(turn: RunningTurn): void
}

export async function runTurn(run: TurnRun): Promise<void> {
  const { parts, rows, spec, live } = run
  const log = parts.log.with({ turn_id: spec.id, chat_id: spec.chatId })
  const close = (end: LoopEnd) => rows.finish(spec.id, end.outcome, parts.clock.now())
  const end = await execute(run, log, close).catch((error: unknown) => {
    log.error("turn failed inside the kernel", {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
    const fault = endOfFault(error)
    try {
      parts.store.write(() => close(fault))
    } catch (failure) {
      // A full disk, as a rule. Who listens is told all the same, and the next start marks the row.
      log.error("the end of the turn could not be stored", { error: errorText(failure) })
    }
    return fault
  })
  if (end.outcome.state === "failed") {
    log.warn("turn ended with an error", { code: end.outcome.errorCode, error: end.outcome.error })
  }
  finishPlan(parts, spec, log)
  tellEnd(parts, live, end)
  parts.pending.endTurn(spec.id, end.outcome.state === "cancelled" ? "cancelled" : "turn_ended")
}

async function execute(run: TurnRun, log: Log, close: (end: LoopEnd) => void): Promise<LoopEnd> {
  const { parts, spec, live, signal } = run
  if (signal.aborted) {
    const end: LoopEnd = { outcome: { state: "cancelled" }, retryable: false }
    parts.store.write(() => close(end))
    return end
  }
  const turn = enter(run, log)
  ;[turn.memory, turn.project] = await Promise.all([
    recallFor(parts, turn),
    projectFor(parts, turn),
  ])
  run.onStart(turn)
  live.emit({ type: "turn_started", model: turn.model, effort: effortShown(parts, turn) })
  if (spec.identity.master) parts.plans.sweep(spec.chatId)
  return runLoop(parts, turn, close)
}

/** A plan that cannot be put away now goes at the entry of the next turn. */
function finishPlan(parts: TurnParts, { chatId, identity }: TurnSpec, log: Log): void {
  if (!identity.master) return
  try {
    parts.plans.finish(chatId)
  } catch (error) {
    log.error("a finished plan could not be erased", { error: errorText(error) })
  }
}

/** Entry: the chat as it is now, and history up to this turn. */
function enter(run: TurnRun, log: Log): RunningTurn {
  const { parts, spec, live, signal, refusedMessages } = run
  const chat = parts.chats.get(spec.chatId)
  const { conversation, folded } = loadConversation(parts, { spec, chat, refusedMessages })
  const toolset = firstToolset(parts, { wished: spec.toolset, pinned: chat.toolset })
  const mode = modeOf({ spec, toolset })
  const opened = new Set<string>()
  const notes = enterNotebook(parts, spec)
  const hasPlan = parts.plans.isOpen(spec.chatId)
  const reach = turnReach(parts, { spec, toolset, opened, notes, hasPlan })
  return {
    spec,
    chat,
    live,
    signal,
    log,
    model: modelOf(parts, { spec, chatModel: chat.model }),
    effortWishes: {
      send: spec.effort,
      chat: EFFORT_LEVELS.find((level) => level === chat.effort),
      surface: spec.surfaceEffort,
    },
    step: 0,
    extraTools: extraTools(parts.pending, { spec, live, signal }),
    opened,
    toolset,
    raised: undefined,
    lifted: false,
    saysAtLength: mode?.no_brevity === true,
    catalogue: createCatalogue(parts, { reach, toolset, log }),
    streak: createStreak(),
    conversation,
    folded,
    counted: parts.chats.contextAnchor(spec.chatId),
    window: "",
    memory: "",
    ...{ notes, hasPlan },
    project: "",
    refusedMessages,
    exclude: (refused) => exclude(run, refused),
    newMessageId: idsWithin(spec.id, conversation.own.at(-1)?.id),
  }
}

/** Turns are marked in their rows. Messages without one have no row to mark: they are known until a restart. */
function exclude({ parts, rows, refusedMessages }: TurnRun, refused: readonly Message[]): void {
  const turns = new Set(refused.map((message) => message.turn_id))
  parts.store.write(() => {
    for (const id of turns) if (id !== null) rows.exclude(id)
  })
  for (const { id, turn_id } of refused) if (turn_id === null) refusedMessages.add(id)
}

/** The message's own wish, the chat's setting, the surface's default, the general model. */
function modelOf(parts: TurnParts, at: { spec: TurnSpec; chatModel: string | null }): string {
  const { spec, chatModel } = at
  const surface = spec.surfaceModel
  const usable = surface !== undefined && parts.isKnownModel(surface) === true
  return (
    spec.model ?? chatModel ?? (usable ? surface : undefined) ?? parts.router.models.roles.general
  )
}

const effortShown = (parts: TurnParts, turn: RunningTurn): Effort =>
  effortOf(parts, turn, parts.router.models.resolve(turn.model))

function tellEnd(parts: TurnParts, live: LiveTurn, end: LoopEnd): void {
  const { outcome, retryable } = end
  if (outcome.state === "failed") {
    const message = parts.redact(outcome.error ?? "the turn failed")
    live.emit({ type: "error", message, code: outcome.errorCode ?? "internal", retryable })
    return
  }
  live.emit({ type: "done", reason: outcome.state })
}
