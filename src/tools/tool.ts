/**
 * What a tool is: a value with a contract, gates that say who reaches it, traits that say how it behaves,
 * and `run`. Gates and traits are data, so that listing, hiding and refusing come from one place.
 */
import type { TSchema } from "@sinclair/typebox"
import type { Log } from "../lib/log.ts"
import type { WorkdirOn } from "../schema/chat.ts"
import type { ClientOp } from "../schema/client-op.ts"
import type { ToolGate } from "../schema/tool-spec.ts"

export type JsonSchema = TSchema | Record<string, unknown>

/** Who leads a turn and where. Computed once per turn by code, never from anything a model wrote. */
export interface TurnIdentity {
  /** The owner leads the turn. */
  master: boolean
  /** The place is trusted: a client of his, or his private chat. */
  trusted: boolean
  /** An allowed user, not a guest. A trusted turn always is. */
  privileged: boolean
  /** The turn answers an external message. */
  anchored: boolean
  /** The client executes client operations. */
  clientOps: boolean
  /** A sub-agent's turn. */
  agent: boolean
  /** The chat has a live sub-agent. */
  hasAgents: boolean
  /** The notebook is shown as an index. */
  indexedNotes: boolean
  /** A working turn: a plan makes sense. */
  planning: boolean
  /** Guests may read along: file tools do not exist here. */
  public: boolean
}

/** The whole registry, or only these tool names and groups. */
export type ToolAccess = { kind: "all" } | { kind: "only"; names: readonly string[] }

/** Where relative paths count from and commands run. */
export interface Workdir {
  /** Absolute; undefined when the chat has none. */
  path: string | undefined
  on: WorkdirOn
}

export interface ToolContext {
  chatId: string
  turnId: string
  callId: string
  identity: TurnIdentity
  /** Short person id such as p7; absent when the master speaks without a person. */
  sender: string | undefined
  anchor: string | undefined
  /** What started the turn: `message`, `cron`, `notify` … */
  source: string
  /** As it stands when the call begins. */
  workdir: Workdir
  /**
   * Has the client of this turn do something on its machine, and gives what it answered. Rejects with a
   * ToolFailure in words for the model: refused by the user, impossible there, expired, or no client.
   */
  clientOp(op: ClientOp, options: { timeoutMs: number }): Promise<string>
  signal: AbortSignal
  /** Replaces the snapshot that clients see while the tool runs. */
  progress(output: string): void
  log: Log
}

export interface ToolTraits {
  /** Not an event in messenger feeds. */
  quiet?: boolean
  /** A reader of windows: hygiene cuts its tail, not its middle. */
  windowed?: boolean
  /** Full text: never cut in the middle while fresh. */
  uncapped?: boolean
  /** An outside executor: awaited on cancel up to its own limit, and a result in time wins. */
  waitsOnCancel?: boolean
  /** Success closes the turn. */
  endsTurn?: boolean
  /** Runs beside its neighbours of the same answer: it only reads, or guards itself. */
  concurrent?: boolean
  /** Clients meet it with the call itself, so it starts then, whatever runs before it in the same answer. */
  startsAtOnce?: boolean
  /** Leads out of any narrow set (`toolset`, `tool_load`, `tool_find`, `skill`): no set or chat list hides it. */
  wayOut?: boolean
}

export interface ToolAnswer {
  output: string
  /** Nothing happened (no matches, empty inbox): dropped from context first. */
  uneventful?: boolean
  /** Tools that go on from here: out of sight before, they are offered from the next step of the turn on. */
  offers?: readonly string[]
}

export interface Tool {
  /** `[A-Za-z0-9_-]`, at most 64 characters: the strictest provider's alphabet. */
  name: string
  group: string
  icon?: string
  /** One line for a feed, such as `{from} → {to}`. */
  brief?: string
  description: string
  input: JsonSchema
  /** Shape of a success, told to the model at the end of the description. */
  output?: JsonSchema
  gates: readonly ToolGate[]
  traits: ToolTraits
  /** Longest run, milliseconds; kept from outside. */
  timeoutMs?: number
  run(context: ToolContext, input: unknown): Promise<ToolAnswer>
}

/** `model`: told to the model, the turn goes on. `turn`: the turn ends once every pair is closed. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure"
  readonly scope: "model" | "turn"

  constructor(message: string, options: { scope?: "model" | "turn"; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.scope = options.scope ?? "model"
  }
}
