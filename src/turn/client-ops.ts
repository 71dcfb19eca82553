/** Operations on the machine of the turn's client: asked in the live stream, answered over the API. */
import { Value } from "@sinclair/typebox/value"
import { KernelError } from "../lib/error.ts"
import { tryParseJson } from "../lib/json.ts"
import {
  BytesPiece,
  type ClientOp,
  OP_DECISIONS,
  OP_TIMEOUT_MS,
  type OpResult,
  PIECE_BYTES,
  type ReadBytes,
} from "../schema/client-op.ts"
import { MACHINE_TEXT } from "../schema/machine-text.ts"
import { createProgress } from "../tools/progress.ts"
import { sections } from "../tools/sections.ts"
import { ToolFailure } from "../tools/tool.ts"
import type { LiveTurn } from "./live.ts"
import type { TurnParts } from "./parts.ts"
import type { AskingTurn, Outcome } from "./pending.ts"
import type { TurnSpec } from "./spec.ts"

/**
 * After a cancel a write or a command may be half done: its result is waited for this long. What still waits
 * for a decision then is given up.
 */
export const CANCEL_GRACE_MS = 5000

const NO_CLIENT =
  "no client of this turn carries out operations on its machine; the master can ask for it from one that does, such as `eva-kernel chat`"
const REFUSED =
  "The user refused this operation. Do not try it again in another way: ask what to do instead, or go on without it."

/** A turn that may ask its client. */
export interface OpTurn {
  spec: TurnSpec
  live: LiveTurn
  signal: AbortSignal
}

export interface OpCall {
  op: ClientOp
  timeoutMs: number
  /** The tool call that it serves: its progress is drawn there. */
  callId?: string
}

type OpParts = Pick<TurnParts, "chats" | "newId" | "pending" | "redact">

/** What the client answered. Throws ToolFailure in words for the model. */
export async function clientOp(parts: OpParts, turn: OpTurn, call: OpCall): Promise<string> {
  if (!turn.spec.identity.clientOps) throw new ToolFailure(NO_CLIENT)
  if (call.op.action === "list_up" && !turn.spec.projectDocs) {
    throw new ToolFailure("the client of this turn does not answer list_up")
  }
  const outcome = await askClient(parts, turn, call)
  return textOfOutcome(outcome, `${call.op.action} on the client's machine`, call.timeoutMs)
}

async function askClient(parts: OpParts, turn: OpTurn, call: OpCall): Promise<Outcome<OpResult>> {
  const { op, timeoutMs, callId } = call
  const id = parts.newId()
  const { workdir, workdir_on } = parts.chats.get(turn.spec.chatId)
  const progress = createProgress({
    emit: (output) => {
      if (callId !== undefined) turn.live.emit({ type: "tool_progress", id: callId, output })
    },
    redact: parts.redact,
  })
  const outcome = await parts.pending.wait<OpResult>({
    ...{ kind: "op", id, turn: askingTurn(turn), timeoutMs },
    ask: {
      ...{ type: "client_op", op_id: id, ...op },
      ...(workdir !== null && workdir_on === "client" && { cwd: workdir }),
      ...(op.action !== "list_up" && { decisions: [...OP_DECISIONS] }),
    },
    graceMs: changesSomething(op) ? CANCEL_GRACE_MS : 0,
    onProgress: progress.push,
  })
  progress.close()
  return outcome
}

export const askingTurn = ({ spec, live, signal }: OpTurn): AskingTurn => ({
  ...{ chatId: spec.chatId, turnId: spec.id, signal, ended: live.ended, emit: live.emit },
})

const changesSomething = ({ action }: ClientOp): boolean =>
  action === "write" || action === "write_bytes" || action === "shell"

/** A success as text. `what` was asked, in words. Throws ToolFailure. */
export function textOfOutcome(outcome: Outcome<OpResult>, what: string, timeoutMs: number): string {
  if (outcome.reason === "answered") return textOfResult(outcome.answer)
  if (outcome.reason === "expired") {
    const seconds = Math.round(timeoutMs / 1000)
    throw new ToolFailure(`${what} got no answer within ${seconds} s; the client may be away`)
  }
  throw turnOver()
}

/** Nobody waits for the answer any more: history then shows a cut, and not what was answered in part. */
export const turnOver = (): ToolFailure => new ToolFailure(MACHINE_TEXT.call_cancelled.marker)

function textOfResult({ output, error, decision, blocks }: OpResult): string {
  if (error !== undefined) throw new ToolFailure(error || "the client failed without saying why")
  if (decision === "deny") throw new ToolFailure(REFUSED)
  return blocks ? sections(blocks) : (output ?? "")
}

/**
 * A piece of a file on the machine of a live turn's client: base64 and the size of the whole. Throws
 * KernelError: conflict without such a turn, forbidden, invalid with the client's words, unavailable.
 */
export async function readClientBytes(
  parts: OpParts,
  turn: OpTurn | undefined,
  { path, offset = 0, size = PIECE_BYTES }: ReadBytes,
): Promise<BytesPiece> {
  if (!turn) {
    throw new KernelError(
      "conflict",
      "no turn runs in this chat whose client carries out operations; start one from such a client",
    )
  }
  const call: OpCall = {
    op: { action: "read_bytes", path, offset, size },
    timeoutMs: OP_TIMEOUT_MS,
  }
  const outcome = await askClient(parts, turn, call)
  if (outcome.reason !== "answered") {
    throw new KernelError("unavailable", `the client did not answer: ${outcome.reason}`)
  }
  const { error, decision, output = "" } = outcome.answer
  if (error !== undefined) throw new KernelError("invalid", error)
  if (decision === "deny") throw new KernelError("forbidden", "the user refused to have it read")
  const read = tryParseJson(output)?.value
  if (Value.Check(BytesPiece, read)) return read
  throw new KernelError("unavailable", "the client answered read_bytes with something else")
}
