/** Tools, turns and calls for tests of whatever runs tools. */
import { silentLog } from "../../src/lib/log.ts"
import type { ToolUseBlock } from "../../src/schema/message.ts"
import type { ReachTurn } from "../../src/tools/reach.ts"
import { createRegistry, type Registry } from "../../src/tools/registry.ts"
import { type CallRequest, type CallResult, runCall } from "../../src/tools/run.ts"
import { snapshot } from "../../src/tools/snapshot.ts"
import {
  type Tool,
  type ToolContext,
  ToolFailure,
  type TurnIdentity,
  type Workdir,
} from "../../src/tools/tool.ts"

/** A master at his own client: everything that identity can open is open, except what excludes it. */
export const masterIdentity = (changes: Partial<TurnIdentity> = {}): TurnIdentity => ({
  master: true,
  trusted: true,
  privileged: true,
  anchored: false,
  clientOps: true,
  agent: false,
  hasAgents: false,
  indexedNotes: false,
  planning: true,
  public: false,
  ...changes,
})

/** Somebody unknown in a public chat. */
export const guestIdentity = (changes: Partial<TurnIdentity> = {}): TurnIdentity => ({
  master: false,
  trusted: false,
  privileged: false,
  anchored: true,
  clientOps: false,
  agent: false,
  hasAgents: false,
  indexedNotes: false,
  planning: false,
  public: true,
  ...changes,
})

export const reachTurn = (changes: Partial<ReachTurn> = {}): ReachTurn => ({
  identity: masterIdentity(),
  access: [],
  onDemand: [],
  opened: [],
  ...changes,
})

export const makeTool = (changes: Partial<Tool> = {}): Tool => ({
  name: "echo",
  group: "test",
  description: "Says its input again",
  input: { type: "object", properties: {} },
  gates: [],
  traits: {},
  run: async (_context, input) => ({ output: JSON.stringify(input) }),
  ...changes,
})

export function registryOf(...tools: Tool[]): Registry {
  const registry = createRegistry({ log: silentLog })
  registry.registerAll(tools)
  return registry
}

export const toolUse = (name: string, input: unknown = {}): ToolUseBlock => ({
  type: "tool_use",
  id: "call_1",
  name,
  input,
})

export interface RunOptions {
  signal?: AbortSignal
  turn?: ReachTurn
  onProgress?: CallRequest["onProgress"]
  redact?: CallRequest["redact"]
  workdir?: Workdir
  /** What the turn's client answers to operations; by default there is no client. */
  clientOp?: ToolContext["clientOp"]
}

/** Runs one call of a tool that is registered alone. */
export function runTool(
  tool: Tool,
  input: unknown = {},
  options: RunOptions = {},
): Promise<CallResult> {
  return runBlock(tool, toolUse(tool.name, input), options)
}

/** As `runTool`, with the call as the model's message holds it. */
export function runBlock(
  tool: Tool,
  call: ToolUseBlock,
  options: RunOptions = {},
): Promise<CallResult> {
  const turn = options.turn ?? reachTurn()
  return runCall({
    snapshot: snapshot(registryOf(tool), turn),
    call,
    context: {
      chatId: "chat-1",
      turnId: "turn-1",
      identity: turn.identity,
      sender: undefined,
      anchor: undefined,
      source: "message",
      workdir: options.workdir ?? { path: undefined, on: "server" },
      clientOp: options.clientOp ?? (() => Promise.reject(new ToolFailure("no client"))),
      signal: options.signal ?? new AbortController().signal,
      log: silentLog,
    },
    onProgress: options.onProgress ?? (() => {}),
    redact: options.redact ?? ((text) => text),
  })
}
