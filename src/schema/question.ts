/** Questions with ready options that the agent puts to whoever it talks to, and how they are answered. */
import { type Static, Type } from "@sinclair/typebox"

export const ASK_TOOL = "ask_questions"

/** What may be said in place of an option. A client draws those it knows and skips the rest. */
export const ASK_DECISIONS = ["discuss", "answer_in_text"] as const
export type AskDecision = (typeof ASK_DECISIONS)[number]

export const ASK_LIMITS = {
  questions: 3,
  options: 10,
  questionChars: 1000,
  labelChars: 100,
  answerChars: 10_000,
} as const

export const Question = Type.Object(
  {
    question: Type.String({ minLength: 1, maxLength: ASK_LIMITS.questionChars }),
    header: Type.Optional(Type.String({ maxLength: 40, description: "A word or two above it" })),
    options: Type.Array(
      Type.Object(
        {
          label: Type.String({ minLength: 1, maxLength: ASK_LIMITS.labelChars }),
          description: Type.Optional(Type.String({ maxLength: 300 })),
        },
        { additionalProperties: false },
      ),
      { minItems: 2, maxItems: ASK_LIMITS.options },
    ),
    multi: Type.Optional(Type.Boolean({ description: "Several options may be chosen" })),
  },
  { additionalProperties: false },
)
export type Question = Static<typeof Question>

/** The input of `ask_questions`; events and items carry `decisions` beside it, which the model never wrote. */
export const AskInput = Type.Object(
  { questions: Type.Array(Question, { minItems: 1, maxItems: ASK_LIMITS.questions }) },
  { additionalProperties: false },
)
export type AskInput = Static<typeof AskInput>

const words = Type.String({ minLength: 1, maxLength: ASK_LIMITS.answerChars })

export const QuestionAnswer = Type.Object(
  {
    question: Type.Integer({ minimum: 0, description: "Its place in the call, from 0" }),
    answer: Type.Optional(
      Type.Union(
        [
          words,
          Type.Object(
            {
              chosen: Type.Optional(Type.Array(words, { maxItems: ASK_LIMITS.options })),
              text: Type.Optional(words),
            },
            { additionalProperties: false },
          ),
        ],
        { description: "The label of an option or own words, or chosen labels with own words" },
      ),
    ),
    decision: Type.Optional(
      Type.Unsafe<AskDecision>(
        Type.Union(
          ASK_DECISIONS.map((decision) => Type.Literal(decision)),
          {
            description:
              "In place of an answer: `discuss` talks about it first, `answer_in_text` answers with the next message",
          },
        ),
      ),
    ),
    call_id: Type.Optional(
      Type.String({ description: "The tool call that asks; absent: the earliest that waits" }),
    ),
  },
  { additionalProperties: false },
)
export type QuestionAnswer = Static<typeof QuestionAnswer>

/** The input of a call as clients see it: `ask_questions` bears the decisions that the kernel offers. */
export function shownInput(name: string, input: unknown): unknown {
  if (name !== ASK_TOOL || typeof input !== "object" || input === null) return input
  return { ...input, decisions: [...ASK_DECISIONS] }
}
