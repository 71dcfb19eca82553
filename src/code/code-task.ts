/** The tool `code_task`: one question to a stronger model, which sees nothing but what stands in it. */
import { Type } from "@sinclair/typebox"
import { complete } from "../llm/complete.ts"
import type { Router } from "../llm/router.ts"
import type { Usage } from "../schema/usage.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"

export const CODE_TASK = "code_task"

export interface CodeTaskParts {
  router: Router
  /** `llm.code_model` */
  model: string
  maxTokens: number
  /** Stores what a trip consumed. */
  record(trip: {
    chatId: string
    turnId: string
    source: string
    model: string
    usage: Usage
    reasoningCost: null
  }): void
}

/** Characters of one task: a pasted file or two, not a repository. */
const TASK_MAX_CHARS = 200_000

const SYSTEM =
  "You solve one programming task for another agent. You see nothing but the task: no files, no tools, no conversation. Answer with the solution itself, complete and ready to use; name what you had to assume."

const DESCRIPTION =
  "Hand one self-contained coding question to a stronger model: an algorithm, a review of a pasted piece. It has no tools, no files and no history, and sees only `task`, so paste all it needs. For work inside a repository use agent_spawn with a code tool set."

const CodeTask = Type.Object(
  { task: Type.String({ minLength: 1, maxLength: TASK_MAX_CHARS }) },
  { additionalProperties: false },
)

export const codeTaskTool = ({ router, model, maxTokens, record }: CodeTaskParts): Tool => ({
  ...{ name: CODE_TASK, group: "code", icon: "🧠", description: DESCRIPTION },
  input: CodeTask,
  // It costs money: not for guests.
  gates: ["privileged_only"],
  traits: { concurrent: true },
  run: async ({ chatId, turnId, signal }, input) => {
    const { task } = input as { task: string }
    const { effort } = router.models.resolve(model).entry
    const answer = await complete(router, {
      ...{ model, system: SYSTEM, signal, maxTokens },
      messages: [{ role: "user", blocks: [{ type: "text", text: task }] }],
      spender: { chat: chatId },
      ...(effort !== undefined && { effort }),
    })
    const { usage } = answer
    if (usage.prompt_tokens + usage.completion_tokens > 0) {
      const paidBy = "failure" in answer ? model : answer.model
      record({ chatId, turnId, source: CODE_TASK, model: paidBy, usage, reasoningCost: null })
    }
    if ("failure" in answer) throw new ToolFailure(`${model} failed: ${answer.failure.message}`)
    return { output: answer.stop === "length" ? `${answer.text}\n${CUT}` : answer.text }
  },
})

const CUT = "[kernel] The answer was cut by the output limit: ask for the rest, or for less."
