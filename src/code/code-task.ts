/** The tool `code_task`: one question to a stronger model, which sees nothing but what stands in it. */
import { Type } from "@sinclair/typebox"
import type { Offload } from "../tools/offload.ts"
import type { Tool } from "../tools/tool.ts"

export const CODE_TASK = "code_task"

export interface CodeTaskParts {
  /** `llm.code_model` */
  model: string
  offload: Offload
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

export const codeTaskTool = ({ model, offload }: CodeTaskParts): Tool => ({
  ...{ name: CODE_TASK, group: "code", icon: "🧠", description: DESCRIPTION },
  input: CodeTask,
  // It costs money: not for guests.
  gates: ["privileged_only"],
  traits: { concurrent: true },
  run: async (context, input) => {
    const { task: prompt } = input as { task: string }
    return { output: await offload(context, { model, system: SYSTEM, prompt, source: CODE_TASK }) }
  },
})
