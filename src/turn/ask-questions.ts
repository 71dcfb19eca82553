/**
 * The tool `ask_questions`: up to three questions with ready options. Surfaces draw them from the call's own
 * event, the answers come over the API, and the turn waits inside the call.
 */
import { KernelError } from "../lib/error.ts"
import {
  ASK_LIMITS,
  ASK_TOOL,
  AskInput,
  type Question,
  type QuestionAnswer,
} from "../schema/question.ts"
import { sections } from "../tools/sections.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import { askingTurn, type OpTurn, turnOver } from "./client-ops.ts"
import type { Outcome, Pending } from "./pending.ts"

/** The kernel's own limit must not come before the questions expire. */
const OVERTIME_MS = 10_000

export interface AskParts {
  pending: Pending
  /** The live turn with this id. */
  turnOf(turnId: string): OpTurn | undefined
  /** How long the questions of one call live, milliseconds. */
  ttlMs: number
}

const DESCRIPTION = `Ask 1 to ${ASK_LIMITS.questions} questions with ready options, drawn as buttons; waits for the answers. For a choice that is the user's to make, not for what you can find out. Nobody may answer: then go on without.`

export const askQuestionsTool = (parts: AskParts): Tool => ({
  ...{ name: ASK_TOOL, group: "ask", icon: "❓", description: DESCRIPTION },
  input: AskInput,
  gates: ["privileged_only"],
  traits: { startsAtOnce: true },
  timeoutMs: parts.ttlMs + OVERTIME_MS,
  run: async ({ turnId, callId }, input) => {
    const turn = parts.turnOf(turnId)
    if (!turn) throw new ToolFailure("the turn that asks is over")
    const { questions } = input as AskInput
    const outcomes = await Promise.all(
      questions.map((question, index) => ask(parts, { turn, callId, question, index })),
    )
    if (outcomes.some(({ reason }) => reason === "cancelled" || reason === "turn_ended")) {
      throw turnOver()
    }
    if (outcomes.every(({ reason }) => reason === "expired")) {
      return { output: NOBODY, uneventful: true }
    }
    const told = questions.map(({ question }, index) => ({
      title: question,
      content: wordsOf(outcomes[index]!),
    }))
    return { output: sections(told) }
  },
})

const NOBODY =
  "Nobody answered in time, and the questions are gone. Go on without an answer, or leave what depends on it and say so."

interface Asked {
  turn: OpTurn
  callId: string
  question: Question
  index: number
}

const ask = (
  { pending, ttlMs }: AskParts,
  { turn, callId, question, index }: Asked,
): Promise<Outcome<QuestionAnswer>> =>
  pending.wait({
    ...{ kind: "question", id: callId, question: index },
    turn: askingTurn(turn),
    timeoutMs: ttlMs,
    check: (answer: QuestionAnswer) => checkAnswer(question, answer),
  })

/** Throws KernelError("invalid"): the question goes on waiting. */
function checkAnswer(question: Question, { answer, decision }: QuestionAnswer): void {
  const invalid = (message: string) => new KernelError("invalid", message, { path: "answer" })
  const said = answer === undefined || typeof answer === "string" ? {} : answer
  const { chosen = [], text } = said
  if (decision !== undefined) {
    if (answer === undefined) return
    throw invalid("give an answer or a decision in its place, not both")
  }
  if (typeof answer === "string") return
  if (chosen.length === 0 && text === undefined)
    throw invalid("choose an option, or say it in words")
  if (chosen.length > 1 && !question.multi) throw invalid("this question takes one option")
  const labels = question.options.map(({ label }) => label)
  const unknown = chosen.find((label) => !labels.includes(label))
  if (unknown === undefined) return
  throw invalid(`${JSON.stringify(unknown)} is none of its options: ${labels.join(" · ")}`)
}

function wordsOf(outcome: Outcome<QuestionAnswer>): string {
  if (outcome.reason !== "answered") return "(no answer in time)"
  const { answer, decision } = outcome.answer
  if (decision === "discuss") {
    return "(wants to talk about it first: say what speaks for and against each option, and ask again)"
  }
  if (decision === "answer_in_text") {
    return "(will answer in words, with the next message: end your turn and wait for it)"
  }
  if (typeof answer === "string") return answer
  const { chosen = [], text } = answer ?? {}
  return [...chosen, ...(text === undefined ? [] : [text])].join("\n")
}
