/**
 * What the kernel asks of this client: operations on its machine and questions to its user. An operation is
 * carried out only for turns that this client started, and only once; what is allowed already runs at once,
 * the rest waits for a decision. Whatever ends a request elsewhere ends it here.
 */
import { Value } from "@sinclair/typebox/value"
import { isObject } from "../../../lib/json.ts"
import { CLIENT_ACTIONS, type ClientOp, type OpResult } from "../../../schema/client-op.ts"
import type { WireEvent } from "../read-events.ts"
import type {
  OperationRequest,
  PendingRequest,
  QuestionAnswer,
  QuestionRequest,
} from "../session.ts"
import { describeOp, type OpRequest } from "./op-request.ts"
import type { Permissions } from "./permissions.ts"

/** Who hears of changes. */
export interface RequestSeat {
  onChange(): void
  /** Something went wrong that the user should know. */
  onProblem(error: unknown): void
}

export interface RequestParts extends RequestSeat {
  /** Tells the kernel how an operation ended; it is tried again while the kernel is away. */
  post(chatId: string, result: OpResult): Promise<void>
  /** Carries out an operation. Rejects with the reason, in words. */
  execute(
    op: ClientOp,
    at: { cwd: string; signal: AbortSignal; onProgress(output: string): void },
  ): Promise<string>
  progress(chatId: string, id: string, output: string): void
  permissions: Permissions
  /** Where operations act that name no folder. */
  cwd: string
  /** Tells the kernel what the user answered; rejects when it was too late. */
  answer(request: QuestionRequest, answer: QuestionAnswer): Promise<void>
}

interface Operation {
  chatId: string
  op: ClientOp
  cwd: string
  shown: OpRequest | undefined
  running: AbortController | undefined
  /** The kernel does not wait for it any more. */
  isSettled: boolean
}

/** An operation may come before the reply that says whose turn it is. */
const UNCLAIMED_MAX = 200
const DENIED: Pick<OpResult, "decision"> = { decision: "deny" }

export class Requests {
  readonly #parts: RequestParts
  readonly #operations = new Map<string, Operation>()
  readonly #waiting = new Map<string, PendingRequest>()
  readonly #own = new Set<string>()
  #unclaimed: WireEvent[] = []
  #pending: readonly PendingRequest[] = []

  constructor(parts: RequestParts) {
    this.#parts = parts
  }

  /** What waits for a decision in this chat, the oldest first. */
  pendingIn = (chatId: string | undefined): readonly PendingRequest[] =>
    this.#pending.filter((request) => request.chatId === chatId)

  /** This client started the turn: it is the one to carry out what the turn asks. */
  claim(turnId: string): void {
    this.#own.add(turnId)
    const events = this.#unclaimed.filter((event) => event.turn_id === turnId)
    this.#unclaimed = this.#unclaimed.filter((event) => event.turn_id !== turnId)
    for (const event of events) this.handle(event)
  }

  handle(event: WireEvent): void {
    switch (event.type) {
      case "client_op":
        // What is told again is drawn by the conversation and carried out by nobody.
        if (event.replayed) return
        if (this.#own.has(event.turn_id ?? "")) void this.#begin(event)
        else this.#unclaimed = [...this.#unclaimed, event].slice(-UNCLAIMED_MAX)
        return
      case "request_resolved":
        this.#resolved(event)
        return
      case "item_started":
        if (isObject(event.item)) this.#asked(event, event.item)
        return
      case "done":
      case "error":
        this.#turnOver(event.turn_id)
        return
    }
  }

  /** Carries out the user's decision about an operation. */
  async decide(request: OperationRequest, decision: string): Promise<void> {
    const operation = this.#operations.get(request.id)
    if (!operation?.shown || operation.running) return
    this.#drop(request.id)
    const { project, grant } = operation.shown
    if (decision === "deny") {
      this.#operations.delete(request.id)
      await this.#parts.post(operation.chatId, { id: request.id, ...DENIED })
      return
    }
    const scope = SCOPES[decision]
    // What cannot be remembered is still allowed this once.
    if (scope && grant !== undefined) {
      try {
        this.#parts.permissions.remember(project, grant, scope)
      } catch (error) {
        this.#parts.onProblem(error)
      }
    }
    await this.#run(request.id, operation, decision)
    this.#allowMore()
  }

  /** The user has answered; a refusal by the kernel brings the question back. */
  async answer(request: QuestionRequest, answer: QuestionAnswer): Promise<void> {
    this.#drop(request.id)
    try {
      await this.#parts.answer(request, answer)
    } catch (error) {
      this.#add(request)
      throw error
    }
  }

  /** The user stops the turns of a chat: what runs for them ends, and says so. */
  stop(chatId: string): void {
    for (const { chatId: of, running } of this.#operations.values())
      if (of === chatId) running?.abort()
  }

  close(): void {
    for (const { running } of this.#operations.values()) running?.abort()
  }

  async #begin(event: WireEvent): Promise<void> {
    const { op_id: id, turn_id: turnId, chat_id: chatId } = event
    if (typeof id !== "string" || turnId === undefined || chatId === undefined) return
    if (this.#operations.has(id)) return
    const op = readOp(event)
    if (op === undefined) {
      await this.#tell(chatId, { id, error: "unknown op action" })
      return
    }
    const cwd = typeof event.cwd === "string" ? event.cwd : this.#parts.cwd
    const operation: Operation = {
      chatId,
      op,
      cwd,
      shown: undefined,
      running: undefined,
      isSettled: false,
    }
    this.#operations.set(id, operation)
    const shown = await describeOp(op, cwd)
    // It may have ended while the machine was looked at.
    if (this.#operations.get(id) !== operation) return
    operation.shown = shown
    if (this.#isAllowed(shown)) {
      await this.#run(id, operation, "allow")
      return
    }
    const decisions = Array.isArray(event.decisions) ? event.decisions.map(String) : []
    const agent = typeof event.agent === "string" ? event.agent : undefined
    const { title, details } = shown
    this.#add({ kind: "operation", id, chatId, turnId, title, details, decisions, agent })
  }

  #isAllowed = ({ project, grant }: OpRequest): boolean =>
    grant === undefined || this.#parts.permissions.allows(project, grant)

  /** A decision may cover what waits behind it. */
  #allowMore(): void {
    for (const [id, operation] of this.#operations) {
      const { shown, running } = operation
      if (!shown || running || !this.#waiting.has(id) || !this.#isAllowed(shown)) continue
      this.#drop(id)
      void this.#run(id, operation, "allow")
    }
  }

  async #run(id: string, operation: Operation, decision: string): Promise<void> {
    const running = new AbortController()
    operation.running = running
    const { chatId, op, cwd } = operation
    const onProgress = (output: string) => this.#parts.progress(chatId, id, output)
    const outcome = await this.#parts.execute(op, { cwd, signal: running.signal, onProgress }).then(
      (output) => ({ output }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
    )
    this.#operations.delete(id)
    if (!operation.isSettled) await this.#tell(chatId, { id, decision, ...outcome })
  }

  #tell = (chatId: string, result: OpResult): Promise<void> =>
    this.#parts.post(chatId, result).catch(this.#parts.onProblem)

  /** Buttons of a question come with the call itself. */
  #asked(event: WireEvent, item: Record<string, unknown>): void {
    const { turn_id: turnId, chat_id: chatId } = event
    if (item.kind !== "tool_call" || item.name !== "ask_questions" || !isObject(item.input)) return
    if (turnId === undefined || chatId === undefined || item.status !== "running") return
    const { questions, decisions } = item.input
    if (!Array.isArray(questions)) return
    const callId = String(item.call_id)
    for (const [index, question] of questions.entries()) {
      if (!isObject(question)) continue
      this.#add({
        ...{ kind: "question", id: questionId(callId, index), chatId, turnId, callId, index },
        title: String(question.question ?? ""),
        options: Array.isArray(question.options) ? question.options.flatMap(optionOf) : [],
        isMultiple: question.multi === true,
        decisions: decisionsOf(decisions),
      })
    }
  }

  #resolved({ id, kind, question }: WireEvent): void {
    if (typeof id !== "string") return
    if (kind === "question") this.#drop(questionId(id, Number(question)))
    else {
      const operation = this.#operations.get(id)
      if (operation) operation.isSettled = true
      operation?.running?.abort()
      this.#operations.delete(id)
      this.#drop(id)
    }
  }

  #turnOver(turnId: string | undefined): void {
    if (turnId === undefined) return
    this.#own.delete(turnId)
    for (const { id, turnId: of } of this.#waiting.values()) if (of === turnId) this.#drop(id)
  }

  #add(request: PendingRequest): void {
    this.#waiting.set(request.id, request)
    this.#changed()
  }

  #drop(id: string): void {
    if (this.#waiting.delete(id)) this.#changed()
  }

  #changed(): void {
    this.#pending = [...this.#waiting.values()]
    this.#parts.onChange()
  }
}

const SCOPES: Record<string, "session" | "always"> = {
  allow_session: "session",
  allow_always: "always",
}

const questionId = (callId: string, index: number): string => `${callId}/${index}`

/** The operation in an event; undefined when this client does not know its action. */
function readOp(event: WireEvent): ClientOp | undefined {
  const schema = Object.entries(CLIENT_ACTIONS).find(([action]) => action === event.action)?.[1]
  return schema && Value.Check(schema, event) ? (event as unknown as ClientOp) : undefined
}

function optionOf(option: unknown): QuestionRequest["options"] {
  if (typeof option === "string") return [{ label: option }]
  if (!isObject(option) || typeof option.label !== "string") return []
  const { label, description } = option
  return [{ label, ...(typeof description === "string" && { description }) }]
}

const decisionsOf = (decisions: unknown): string[] =>
  Array.isArray(decisions)
    ? decisions.map(String)
    : Object.keys(isObject(decisions) ? decisions : {})
