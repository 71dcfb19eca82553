/**
 * What a chat client shows and what its user may do, without a terminal: the seam between the screen and
 * the kernel. `createSession` (create-session.ts) is the one implementation.
 */
import type { ModelCatalogue } from "../../schema/catalogue.ts"
import type { Chat, NewChat } from "../../schema/chat.ts"
import type { ContextReport } from "../../schema/context-report.ts"
import type { Effort } from "../../schema/effort.ts"
import type { Item } from "../../schema/item.ts"
import type { DetailLine } from "./hands/op-request.ts"

/** Where things stand with the kernel. A lost connection comes back by itself. */
export type Connection =
  | { state: "connecting" }
  | { state: "live" }
  /** `retryAtMs` is an instant: milliseconds since the epoch. */
  | { state: "lost"; reason: string; retryAtMs: number }

export interface Folder {
  folder: string
  chats: number
  /** Its chats are not in the common list. */
  quiet: boolean
}

/** Which chats the list holds: the common ones, those of one shelf, or the bin. */
export interface ChatFilter {
  folder?: string
  deleted?: boolean
}

/** A turn of the open chat that is not over, the running one first. */
export interface LiveTurn {
  id: string
  state: "queued" | "running" | "cancelling"
}

/** How a turn of the open chat failed while this client looked on; drawn behind the turn's last item. */
export interface TurnFailure {
  turnId: string
  message: string
  code: string
  retryable: boolean
}

/** What the agent would do on this machine, and what may be answered to it. */
export interface OperationRequest {
  kind: "operation"
  id: string
  chatId: string
  turnId: string
  title: string
  details: readonly DetailLine[]
  /** `allow`, `allow_session`, `allow_always`, `deny`. */
  decisions: readonly string[]
  /** The sub-agent that asks. */
  agent: string | undefined
}

/** One question of a call, with what can be chosen. */
export interface QuestionRequest {
  kind: "question"
  id: string
  chatId: string
  turnId: string
  callId: string
  /** Its place in the call. */
  index: number
  title: string
  options: readonly { label: string; description?: string }[]
  /** Several options may be taken. */
  isMultiple: boolean
  /** What may be said in place of an option: `discuss`, `answer_in_text`. */
  decisions: readonly string[]
}

/** Labels that were chosen, own words, or a decision such as `discuss`. */
export interface QuestionAnswer {
  chosen?: readonly string[]
  text?: string
  decision?: string
}

/** Something the kernel asks of whoever sits here. */
export type PendingRequest = OperationRequest | QuestionRequest

/** What the open chat consumed so far. */
export interface ChatUsage {
  promptTokens: number
  completionTokens: number
  /** USD; null when no trip had a known price. */
  cost: number | null
  /** What the next request will weigh; undefined before the first answer. */
  contextTokens: number | undefined
}

export interface Notice {
  text: string
  kind: "info" | "error"
}

/** Everything that is drawn. A part that did not change is the same object as before. */
export interface SessionState {
  connection: Connection
  /** Undefined before the first contact. */
  kernel: { url: string; version: string } | undefined

  /** The chat with the newest message first. */
  chats: readonly Chat[]
  filter: ChatFilter
  folders: readonly Folder[]

  /** The open chat; undefined is a draft that the first `send` turns into a chat. */
  chat: Chat | undefined
  /**
   * History and live turns of the open chat, oldest first. An unchanged item is the same object as before.
   * Own words that the kernel has not confirmed yet stand last, under an id that starts with `local:`.
   */
  items: readonly Item[]
  hasOlder: boolean
  turns: readonly LiveTurn[]
  failures: readonly TurnFailure[]
  /** What the running turn does beside its items: asking again after a fault, switching the model … */
  activity: string | undefined
  pending: readonly PendingRequest[]
  usage: ChatUsage

  /** The model and the effort that the next message meets, whoever set them. */
  model: string
  effort: Effort
  /** Undefined before the first contact. */
  models: ModelCatalogue | undefined
  notice: Notice | undefined
}

export type StateKey = keyof SessionState

/**
 * Levers for keys and commands. Every promise rejects with a ClientError (kernel-client.ts) whose message
 * is one sentence for the user. What needs an open chat rejects on a draft, except for `send`, `rename`,
 * `move`, `setModel` and `setEffort`, whose values the draft keeps.
 */
export interface Session {
  state(): SessionState
  /** Called once for all changes of a tick, with the parts that changed. Gives what ends it. */
  subscribe(listener: (changed: ReadonlySet<StateKey>) => void): () => void

  open(chatId: string): Promise<void>
  /** Opens a draft; nothing is made on the kernel before the first `send`. */
  newChat(settings?: NewChat): Promise<void>
  /**
   * Shows the words at once and resolves when the kernel has stored them; while it is away they wait and
   * are sent once it is back. Rejects when they are refused: they are then shown no more.
   */
  send(text: string): Promise<void>
  /** While the kernel is away: takes back what was said last and still waits for it; its words. */
  withdraw(): string | undefined
  /** Ends the running turn and those that wait. */
  cancel(): Promise<void>
  loadOlder(): Promise<void>

  rename(title: string): Promise<void>
  /** null: the inbox. */
  move(folder: string | null): Promise<void>
  /** Opens a new chat with everything before this item; the id of an item or of a message. */
  fork(itemId: string): Promise<void>
  /** Erases this item's message and everything after it. Gives the words of that message, to edit them. */
  rewind(itemId: string): Promise<string>
  /** Puts a chat into the bin; absent: the open one, and a draft is opened. */
  remove(chatId?: string): Promise<void>
  restore(chatId: string): Promise<void>
  filter(filter: ChatFilter): Promise<void>
  /** Chats whose title holds this text, wherever they are shelved. */
  search(title: string): Promise<Chat[]>

  /** null: the kernel's general model. */
  setModel(name: string | null): Promise<void>
  /** null: the model's own effort. */
  setEffort(level: Effort | null): Promise<void>
  /** Decides an operation: one of its decisions. */
  decide(request: OperationRequest, decision: string): Promise<void>
  /** Answers a question by the labels that were chosen, by own words, or by one of its decisions. */
  answer(request: QuestionRequest, answer: QuestionAnswer): Promise<void>
  /** What fills the prompt of the chat's next request; undefined before there is a chat. */
  context(): Promise<ContextReport | undefined>
  /** Folds older history into the chat's summary; gives a sentence about it. */
  compact(): Promise<string>
  /** Takes back the files that the newest turn wrote, here and on the server; gives a sentence about it. */
  undo(): Promise<string>
  /** Shows a sentence until the next action. */
  tell(text: string): void
  dismissNotice(): void
  /** Leaves. Turns go on without this client. */
  close(): void
}
