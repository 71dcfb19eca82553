/**
 * Settles the calls of one answer: each gets exactly one result, stored before it is told. Calls run in
 * order; neighbours whose tools may run side by side do, and questions are put at once.
 */
import { MACHINE_TEXT } from "../schema/machine-text.ts"
import type { ToolUseBlock } from "../schema/message.ts"
import { type CallResult, runCall } from "../tools/run.ts"
import type { StepSnapshot } from "../tools/snapshot.ts"
import type { ToolTraits, Workdir } from "../tools/tool.ts"
import { clientOp } from "./client-ops.ts"
import { toolCallEvent } from "./live.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"
import { hiddenNeighbours, STUCK_CALLS, stuckNote } from "./stuck.ts"

export interface Settled {
  /** A tool said that the turn cannot go on. */
  fatal: string | undefined
  /** A tool closed the turn by its success. */
  endsTurn: boolean
}

export interface SettleOptions {
  snapshot: StepSnapshot
  /** The call that the output limit cut: it is answered, not run. */
  cutCallId: string | undefined
}

const CUT_CALL =
  "[kernel] The output limit cut this call before it was complete, so it was not run. Send the content in smaller parts."
const AFTER_FATAL = "[kernel] not executed: an earlier tool ended the turn"

export async function settleCalls(
  parts: TurnParts,
  turn: RunningTurn,
  calls: { blocks: readonly ToolUseBlock[] } & SettleOptions,
): Promise<Settled> {
  const settled: Settled = { fatal: undefined, endsTurn: false }
  const { blocks, snapshot } = calls
  const streaks = new Map(blocks.map((call) => [call.id, turn.streak(call)]))
  const atOnce = blocks.filter((call) => traitsOf(call, snapshot).startsAtOnce)
  const { chatId, id: turnId } = turn.spec
  for (const { id } of atOnce) parts.pending.announce(chatId, id)
  for (const call of blocks) turn.live.emit(toolCallEvent(call))

  const settle = async (call: ToolUseBlock): Promise<void> => {
    const answer = await answerOf(parts, turn, { call, settled, ...calls })
    parts.pending.announcedWaits(chatId, call.id)
    const count = streaks.get(call.id) ?? 1
    const result = isStuck(turn, answer, count)
      ? rescue(parts, turn, { ...calls, call, answer, count })
      : answer
    await storeResult(parts, turn, { call, result })
    for (const name of result.offers ?? []) turn.opened.add(name)
    if (result.endsTurn) settled.endsTurn = true
    if (!result.fatal) return
    settled.fatal ??= result.output
    parts.pending.giveUp(turnId)
  }

  const begun = Promise.all(atOnce.map(settle))
  // When another call breaks the turn before this is awaited, that fault is the one to tell.
  begun.catch(() => {})
  const rest = blocks.filter((call) => !atOnce.includes(call))
  for (const group of sideBySide(rest, snapshot)) await Promise.all(group.map(settle))
  await begun
  return settled
}

async function answerOf(
  parts: TurnParts,
  turn: RunningTurn,
  at: { call: ToolUseBlock; settled: Settled } & SettleOptions,
): Promise<CallResult> {
  const { call, settled, snapshot, cutCallId } = at
  if (settled.fatal !== undefined) return { output: AFTER_FATAL, isError: true }
  if (turn.signal.aborted) return { output: MACHINE_TEXT.call_cancelled.marker, isError: true }
  if (call.id === cutCallId) return { output: CUT_CALL, isError: true }
  return runCall({
    snapshot,
    call,
    context: {
      chatId: turn.spec.chatId,
      turnId: turn.spec.id,
      identity: turn.spec.identity,
      sender: turn.spec.sender,
      anchor: turn.spec.anchor,
      source: turn.spec.source,
      workdir: workdirOf(parts, turn),
      clientOp: (op, { timeoutMs }) => clientOp(parts, turn, { op, timeoutMs, callId: call.id }),
      signal: turn.signal,
      log: turn.log.with({ tool: call.name, call_id: call.id }),
    },
    onProgress: (output) => turn.live.emit({ type: "tool_progress", id: call.id, output }),
    redact: parts.redact,
  })
}

const isStuck = (turn: RunningTurn, answer: CallResult, count: number): boolean =>
  count >= STUCK_CALLS && !turn.signal.aborted && !answer.fatal && !answer.endsTurn

/** Says that the call comes again and again, and opens the hidden neighbours of its tool. */
function rescue(
  parts: TurnParts,
  turn: RunningTurn,
  at: { call: ToolUseBlock; answer: CallResult; count: number; snapshot: StepSnapshot },
): CallResult {
  const { call, answer, count, snapshot } = at
  const neighbours = hiddenNeighbours(snapshot, parts.registry.get(call.name)?.group)
  for (const name of neighbours) turn.opened.add(name)
  return { ...answer, output: `${answer.output}\n\n${stuckNote(count, neighbours)}` }
}

/** Read anew for each call: the agent may have moved since. */
function workdirOf(parts: TurnParts, turn: RunningTurn): Workdir {
  const { workdir, workdir_on } = parts.chats.get(turn.spec.chatId)
  return { path: workdir ?? undefined, on: workdir_on }
}

async function storeResult(
  parts: TurnParts,
  turn: RunningTurn,
  settled: { call: ToolUseBlock; result: CallResult },
): Promise<void> {
  const { id } = settled.call
  const { output, isError: is_error, uneventful } = settled.result
  const { chatId, id: turnId, identity } = turn.spec
  const stored = await parts.store.commit(() =>
    parts.messages.append([
      {
        id: turn.newMessageId(),
        chat_id: chatId,
        turn_id: turnId,
        role: "user",
        blocks: [{ type: "tool_result", id, output, is_error, ...(uneventful && { uneventful }) }],
        master: identity.master,
      },
    ]),
  )
  turn.conversation.add(stored)
  turn.live.emit({ type: "tool_result", id, output, is_error })
}

/** None of a call that would be refused. */
function traitsOf({ name }: ToolUseBlock, snapshot: StepSnapshot): ToolTraits {
  const resolved = snapshot.resolve(name)
  return "tool" in resolved ? resolved.tool.traits : {}
}

/** Runs of neighbouring calls that may run together; every other call is alone. */
function sideBySide(
  calls: readonly ToolUseBlock[],
  snapshot: StepSnapshot,
): readonly ToolUseBlock[][] {
  const groups: ToolUseBlock[][] = []
  let open = false
  for (const call of calls) {
    const concurrent = traitsOf(call, snapshot).concurrent === true
    if (open && concurrent) groups.at(-1)!.push(call)
    else groups.push([call])
    open = concurrent
  }
  return groups
}
