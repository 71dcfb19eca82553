/** A kernel whose model plans nights as the test tells it, and whose clock the test moves. */

import type { Tree } from "../../src/config/merge.ts"
import type { PlanStep } from "../../src/llm/mock-plan.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { OWNER } from "../../src/memory/memories.ts"
import type { NewMemory } from "../../src/schema/memory.ts"
import type { SleepRun } from "../../src/schema/sleep.ts"
import { testKernel } from "../support/kernel.ts"
import { type ManualClock, manualClockAt } from "./clock.ts"

export const DAY_MS = 24 * 3600 * 1000
export const START = "2026-01-05T10:00:00Z"

export type Phase = "cluster" | "forget" | "kinds"

export interface Shown {
  id: number
  line: string
}

/** What is shown in one planning call. */
export interface Asked {
  phase: Phase
  shown: Shown[]
  request: ModelRequest
}

export type Op = Record<string, unknown>
/** Operations, or a whole answer of the model. */
export type Planner = (asked: Asked) => Op[] | Partial<PlanStep>

export interface SleepRigOptions {
  planner?: Planner
  sleep?: Tree
  memory?: Tree
  more?: Tree
  folder?: string
  clock?: ManualClock
}

export function isSleepCall({ toolChoice }: ModelRequest): boolean {
  return typeof toolChoice === "object" && toolChoice.name === "sleep_finish"
}

export function readAsked(request: ModelRequest): Asked {
  const forms = JSON.stringify(request.tools)
  const phase = forms.includes('"merge"')
    ? "cluster"
    : forms.includes('"forget"')
      ? "forget"
      : "kinds"
  const [block] = request.messages.at(-1)!.blocks
  const text = block?.type === "text" ? block.text : ""
  const shown = text.split("\n").flatMap((line) => {
    const id = /^#(\d+) /.exec(line)?.[1]
    return id === undefined ? [] : [{ id: Number(id), line }]
  })
  return { phase, shown, request }
}

export const finish = (operations: Op[]): Partial<PlanStep> => ({
  calls: [{ name: "sleep_finish", input: { operations } }],
})

export async function sleepRig(options: SleepRigOptions = {}) {
  const clock = options.clock ?? manualClockAt(START)
  const asked: Asked[] = []
  let planner = options.planner ?? (() => [])
  const kernel = await testKernel({
    ...(options.folder !== undefined && { folder: options.folder }),
    clock,
    config: {
      sleep: {
        ...options.sleep,
        memory: { min_memories: 2, keep_recent: "1day", ...options.memory },
      },
      ...options.more,
    },
    mock: {
      answer: (request) => {
        if (!isSleepCall(request)) return undefined
        const call = readAsked(request)
        asked.push(call)
        const planned = planner(call)
        return Array.isArray(planned) ? finish(planned) : planned
      },
    },
  })
  const { memories, sleep } = kernel.api
  return {
    ...{ kernel, clock, asked, memories, sleep },
    plan: (next: Planner): void => {
      planner = next
    },
    /** Stored as it is, at the clock's time. */
    save: async (content: string, more: Partial<NewMemory> = {}): Promise<number> =>
      (await memories.save({ content, dedup: false, ...more }, OWNER)).id,
    /** Sleeps once, started by hand; the night. */
    night: async (): Promise<SleepRun> => {
      sleep.start()
      await sleep.settled()
      return sleep.runs({ limit: 1 })[0]!
    },
    contents: (): Record<number, string> =>
      Object.fromEntries(memories.corpus(0, 1e6).map(({ row }) => [row.id, row.content])),
    dispose: kernel.dispose,
  }
}

export type SleepRig = Awaited<ReturnType<typeof sleepRig>>

/** The operations of a phase with what became of them: `merge applied`, `forget refused: …`. */
export const outcomes = (run: SleepRun, phase: Phase): string[] =>
  run.phases
    .filter(({ name }) => name === phase)
    .flatMap(({ ops }) =>
      ops.map(({ op, outcome, reason }) => `${op.op} ${outcome}${reason ? `: ${reason}` : ""}`),
    )
