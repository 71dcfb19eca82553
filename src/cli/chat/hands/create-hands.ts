/** The hands of a chat client: what this machine does for the kernel, and what its user says to it. */
import { sleep } from "../../../lib/async.ts"
import { childEnvironment, type Environment } from "../../../lib/environment.ts"
import type { NewId } from "../../../lib/id.ts"
import type { OpResult } from "../../../schema/client-op.ts"
import type { QuestionAnswer as AnswerBody } from "../../../schema/question.ts"
import { UNATTENDED } from "../../../shell/unattended.ts"
import { ClientError } from "../client-error.ts"
import type { KernelClient } from "../kernel-client.ts"
import type { QuestionAnswer, QuestionRequest } from "../session.ts"
import { executeOp } from "./execute-op.ts"
import { permissionsIn } from "./permissions.ts"
import { type RequestSeat, Requests } from "./requests.ts"

export interface HandsOptions {
  client: KernelClient
  environment: Environment
  newId: NewId
  /** Where the list of what is always allowed is kept. */
  permissionsFile: string
  /** Where operations act that name no folder. */
  cwd: string
}

/** Pauses between tries to hand over a result; the last one is repeated. */
const RETRY_MS = [200, 500, 1000, 2000] as const
/** A kernel that is away longer has lost the turn that asked. */
const TRIES_MAX = 30
/** Snapshots of a running command, at most three a second. */
const PROGRESS_MS = 333

export function createHands(options: HandsOptions): (seat: RequestSeat) => Requests {
  const { client, newId, permissionsFile, cwd } = options
  const environment = childEnvironment(options.environment, UNATTENDED)
  const progress = pacedProgress(client)
  return (seat) =>
    new Requests({
      ...seat,
      ...{ cwd, progress },
      permissions: permissionsIn(permissionsFile),
      execute: (op, at) => executeOp(op, { ...at, environment, newId }),
      post: (chatId, result) => post(client, chatId, result),
      answer: (request, answer) => client.answerQuestion(request.chatId, bodyOf(request, answer)),
    })
}

/** A result must arrive, since the machine has changed already; one that nobody waits for is dropped. */
async function post(client: KernelClient, chatId: string, result: OpResult): Promise<void> {
  for (let tries = 0; ; tries++) {
    const error = await client.opResult(chatId, result).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (error === undefined) return
    if (error instanceof ClientError && error.code === "not_found") return
    const passes = error instanceof ClientError && error.passes
    if (!passes || tries >= TRIES_MAX) throw error
    await sleep(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]!)
  }
}

/** The newest snapshot of each operation, thinned out. One that is lost is made good by the next. */
function pacedProgress(client: KernelClient) {
  const waiting = new Map<string, { chatId: string; output: string }>()
  const flush = (): void => {
    for (const [id, { chatId, output }] of waiting)
      void client.opProgress(chatId, { id, output }).catch(() => undefined)
    waiting.clear()
  }
  return (chatId: string, id: string, output: string): void => {
    if (waiting.size === 0) setTimeout(flush, PROGRESS_MS)
    waiting.set(id, { chatId, output })
  }
}

function bodyOf({ callId, index }: QuestionRequest, answer: QuestionAnswer): AnswerBody {
  const { chosen, text, decision } = answer
  const place = { call_id: callId, question: index }
  if (decision !== undefined)
    return { ...place, decision: decision as AnswerBody["decision"] & string }
  return {
    ...place,
    answer: {
      ...(chosen !== undefined && { chosen: [...chosen] }),
      ...(text !== undefined && { text }),
    },
  }
}
