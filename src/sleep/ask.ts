/** One planning call: the forced tool, thought before it, no ceiling on the answer, one retry for a broken plan. */

import { addUsage } from "../llm/complete.ts"
import { createFold, type FoldedMessage } from "../llm/fold.ts"
import type { ModelRequest } from "../llm/provider.ts"
import type { Router } from "../llm/router.ts"
import { emptyUsage, type Usage } from "../schema/usage.ts"
import {
  FINISH,
  finishTool,
  type PlannedPhase,
  type PlanOp,
  planInProse,
  readPlan,
} from "./plan.ts"

export interface AskParts {
  router: Router
  model: string
  /** Who the agent is: what matters is a question of character. */
  persona: string
  /** In a transaction of its own. */
  recordSpend(trip: { source: string; model: string; usage: Usage; reasoningCost: null }): void
}

export interface PlanQuestion {
  phase: PlannedPhase
  instructions: string
  records: string
  signal: AbortSignal
}

/** `failure` is for the journal. */
export type PlanAnswer = { ops: PlanOp[]; calls: number } | { failure: string; calls: number }

const ATTEMPTS = 2
const CUT = "the plan was cut off by the token limit"

/** Never throws for what the model or its upstream does. */
export async function askForPlan(parts: AskParts, question: PlanQuestion): Promise<PlanAnswer> {
  let wrong = ""
  for (let calls = 1; calls <= ATTEMPTS; calls++) {
    const answer = await callOnce(parts, question, wrong)
    if (answer.failure) return { failure: answer.failure.message, calls }
    if (answer.stop === "length" || answer.unfinishedCallId) return { failure: CUT, calls }
    const read = readAnswer(question.phase, answer)
    if ("ops" in read) return { ops: read.ops, calls }
    wrong = read.wrong
  }
  return { failure: `the plan is not usable: ${wrong}`, calls: ATTEMPTS }
}

async function callOnce(
  parts: AskParts,
  question: PlanQuestion,
  wrong: string,
): Promise<FoldedMessage> {
  const { router, model, recordSpend } = parts
  const { phase, signal } = question
  const events = router.stream({
    model,
    buildRequest: ({ entry }) => requestOf(parts, question, { model: entry.name, wrong }),
    signal,
    spender: {},
    onOverflow: "larger",
    unseen: true,
  })
  const fresh = () => createFold({ provider: "sleep", model }, () => FINISH)
  let fold = fresh()
  let usage = emptyUsage()
  let answered = model
  for await (const event of events) {
    if (event.type === "model") {
      fold = fresh()
      answered = event.model
    } else if (event.type !== "retrying" && event.type !== "fallback") {
      if (event.type === "usage") usage = addUsage(usage, event.usage)
      fold.push(event)
    }
  }
  if (usage.prompt_tokens + usage.completion_tokens > 0) {
    recordSpend({ source: `sleep:${phase}`, model: answered, usage, reasoningCost: null })
  }
  return fold.result()
}

function requestOf(
  { persona }: AskParts,
  { phase, instructions, records }: PlanQuestion,
  { model, wrong }: { model: string; wrong: string },
): ModelRequest {
  const again = wrong ? `\n\nYour last plan was refused: ${wrong}. Hand over a correct one.` : ""
  return {
    model,
    system: [persona, instructions].filter((text) => text !== "").map((text) => ({ text })),
    messages: [{ role: "user", blocks: [{ type: "text", text: `${records}${again}` }] }],
    tools: [finishTool(phase)],
    toolChoice: { name: FINISH },
    effort: "high",
    images: new Map(),
  }
}

function readAnswer(phase: PlannedPhase, { blocks }: FoldedMessage) {
  const call = blocks.find((block) => block.type === "tool_use" && block.name === FINISH)
  if (call?.type === "tool_use") {
    if (call.raw === undefined) return readPlan(phase, call.input)
    const inProse = planInProse(call.raw)
    return inProse === undefined
      ? { wrong: `the arguments of ${FINISH} are no JSON` }
      : readPlan(phase, inProse)
  }
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("")
  const inProse = planInProse(text)
  return inProse === undefined ? { wrong: `${FINISH} was not called` } : readPlan(phase, inProse)
}
