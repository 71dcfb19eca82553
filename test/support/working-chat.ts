/**
 * A working chat as the master has it for weeks, simulated: turns of tool calls with large outputs in several
 * scripts, a model that keeps to the handover's sections, and a look at every request on its way out.
 */
import { Type } from "@sinclair/typebox"
import type { Tree } from "../../src/config/merge.ts"
import type { PlanStep } from "../../src/llm/mock-plan.ts"
import { requestFault } from "../../src/llm/mock-strict.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { testKernel } from "./kernel.ts"

export const TASK =
  "TASK: rebuild the greenhouse with exactly 17 panes of glass, and never use plastic."

/** A pinned note and a task of the plan, which both must last to the end. */
export const NOTE = "The panes lie in the shed behind the oak."
export const PLAN_TASK = "Set the seventeen panes"

const call = (name: string, input: Record<string, unknown>): Partial<PlanStep> => ({
  calls: [{ name, input }],
})

/** How the agent sets itself up for the work, on the master's first word. */
const BEGINNING: Step[] = [
  call("toolset_create", {
    ...{ name: "work", description: "Working", tools: [], narrate: true, uncapped: true },
  }),
  call("toolset", { name: "work" }),
  call("turn_plan", { op: "init", tasks: [{ title: PLAN_TASK }, { title: "Clean up" }] }),
  call("chat_note_save", {
    ...{ name: "panes", description: "Where they are", body: NOTE, pinned: true },
  }),
]

/** A call of the work, the last words, or anything else. */
type Step = "dig" | "say" | Partial<PlanStep>

export interface WorkingChatOptions {
  turns: number
  /** Of the model, in tokens. */
  contextWindow: number
  config?: Tree
}

export interface WorkingChatReport {
  requests: number
  folds: number
  /** Of one turn. */
  mostFolds: number
  squeezes: number
  /** The largest request by the strictest count: bytes over 4, as the mock counts. */
  largestTokens: number
  /** Turns that did not end as they should, and requests that a provider would refuse. */
  faults: string[]
  /** The last request of all. */
  last: ModelRequest
}

/** Runs the chat and disposes of the kernel. */
export async function runWorkingChat(options: WorkingChatOptions): Promise<WorkingChatReport> {
  const random = randomNumbers(7)
  const watched = createWatch()
  const kernel = await testKernel({
    config: {
      ...options.config,
      llm: {
        models: [{ name: "mock", context_window: options.contextWindow }],
        max_turn_iterations: 60,
        ...((options.config?.llm as Tree | undefined) ?? {}),
      },
    },
    mock: { observe: watched.observe, answer: watched.answer },
  })
  try {
    kernel.api.registry.register(digTool(random))
    const chat = kernel.newChat()
    for (let turn = 0; turn < options.turns; turn++) {
      watched.script(turn === 0 ? [...BEGINNING, "say"] : scriptOf(random))
      const text = turn === 0 ? TASK : `Go on with part ${turn}. ${pasteOf(random)}`
      const events = await kernel.turn(chat, text)
      const types = events.map(({ type }) => type)
      watched.ended(types.filter((type) => type === "compacting").length)
      watched.squeezed(types.filter((type) => type === "turn_squeezed").length)
      const end = events.at(-1)
      if (end?.type !== "done") watched.fault(`turn ${turn} ended with ${JSON.stringify(end)}`)
    }
    return watched.report()
  } finally {
    await kernel.dispose()
  }
}

function createWatch() {
  const report = { requests: 0, folds: 0, mostFolds: 0, squeezes: 0, largestTokens: 0 }
  const faults: string[] = []
  let last: ModelRequest | undefined
  let steps: Step[] = []
  return {
    script: (next: Step[]) => {
      steps = next
    },
    observe: (request: ModelRequest): void => {
      report.requests++
      const { images: _images, ...sent } = request
      const tokens = Math.ceil(Buffer.byteLength(JSON.stringify(sent)) / 4)
      report.largestTokens = Math.max(report.largestTokens, tokens)
      const fault = requestFault(request)
      if (fault) faults.push(fault)
      if (request.tools.length > 0) last = request
    },
    answer: (request: ModelRequest) => {
      if (request.tools.length === 0) return { say: handoverOf(request) }
      const step = steps.shift() ?? "say"
      if (step === "say") return { say: `Part done. ${"Ответ 答え answer. ".repeat(20)}` }
      return step === "dig" ? call("dig", { depth: steps.length }) : step
    },
    ended: (folds: number) => {
      report.folds += folds
      report.mostFolds = Math.max(report.mostFolds, folds)
    },
    squeezed: (squeezes: number) => {
      report.squeezes += squeezes
    },
    fault: (fault: string) => faults.push(fault),
    report: (): WorkingChatReport => ({ ...report, faults, last: last! }),
  }
}

/** As the prompt for it asks: the task as it was put, and how far the work is. */
function handoverOf({ messages }: ModelRequest): string {
  const said = messages
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
  const parts = said.match(/part \d+/g) ?? []
  const task = said.includes(TASK) ? TASK : ""
  return `## Task\n${task}\n\n## Done\nUp to ${parts.at(-1) ?? "nothing"}.`
}

const scriptOf = (random: () => number): Step[] => [
  ...Array.from({ length: Math.floor(random() * 12) }, () => "dig" as const),
  "say",
]

/** Now and then the master pastes something long. */
const pasteOf = (random: () => number): string =>
  random() < 0.1 ? "Вставка 貼り付け paste. ".repeat(Math.floor(random() * 400)) : ""

const digTool = (random: () => number) => ({
  ...{ name: "dig", group: "test", description: "Digs.", gates: [], traits: {} },
  input: Type.Object({ depth: Type.Integer() }),
  run: async () => ({ output: `Fund 発見 находка ${"строка line 行\n".repeat(random() * 3000)}` }),
})

/** The same numbers in every run: a linear congruential generator (Numerical Recipes, ranqd1). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
