/** Tools that a client declared for one turn: above the registry, in sight whatever narrows it, run by the client. */
import { KernelError } from "../lib/error.ts"
import type { OpResult } from "../schema/client-op.ts"
import { type ExtraTool, SEND_LIMITS } from "../schema/send.ts"
import type { Tool } from "../tools/tool.ts"
import { askingTurn, type OpTurn, textOfOutcome } from "./client-ops.ts"
import type { Pending } from "./pending.ts"

/** The kernel's own limit must not come before the declared one. */
const OVERTIME_MS = 10_000

/** Throws KernelError("invalid") for a declaration that cannot be used; nothing was stored by then. */
export function checkExtraTools(
  declared: readonly ExtraTool[] = [],
  isTool: (name: string) => boolean,
): void {
  const names = new Set<string>()
  for (const [index, { name, input_schema, timeout_secs = 0 }] of declared.entries()) {
    const invalid = (field: keyof ExtraTool, message: string) =>
      new KernelError("invalid", message, { path: `extra_tools.${index}.${field}` })
    if (isTool(name)) {
      throw invalid(
        "name",
        `the kernel has a tool ${name} already; an extra tool needs another name`,
      )
    }
    if (names.has(name)) throw invalid("name", `${name} is declared twice`)
    names.add(name)
    if (input_schema && input_schema.type !== "object") {
      throw invalid("input_schema", `the input schema of ${name} must have type object`)
    }
    if (timeout_secs > SEND_LIMITS.extraToolSeconds) {
      throw invalid(
        "timeout_secs",
        `a turn waits ${SEND_LIMITS.extraToolSeconds} s for ${name} at the most`,
      )
    }
  }
}

export const extraTools = (pending: Pending, turn: OpTurn): Tool[] =>
  turn.spec.extraTools.map((declared) => extraTool(declared, pending, turn))

function extraTool(declared: ExtraTool, pending: Pending, turn: OpTurn): Tool {
  const { name, description, input_schema, ends_turn } = declared
  const timeoutMs = 1000 * (declared.timeout_secs ?? SEND_LIMITS.extraToolDefaultSeconds)
  return {
    ...{ name, group: "extra", description, gates: [] },
    input: input_schema ?? { type: "object", properties: {} },
    traits: ends_turn ? { endsTurn: true } : {},
    timeoutMs: timeoutMs + OVERTIME_MS,
    run: async ({ callId: id, progress }, input) => {
      const outcome = await pending.wait<OpResult>({
        ...{ kind: "op", id, turn: askingTurn(turn), timeoutMs },
        ask: { type: "extra_tool_call", id, name, input },
        onProgress: progress,
      })
      return { output: textOfOutcome(outcome, name, timeoutMs) }
    },
  }
}
