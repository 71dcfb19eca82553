/** What clients say to what was asked of them. Requests are found by their id; none such: not_found. */
import { KernelError } from "../lib/error.ts"
import type { OpProgress, OpResult } from "../schema/client-op.ts"
import type { QuestionAnswer } from "../schema/question.ts"
import type { Pending } from "./pending.ts"

export const clientAnswers = (pending: Pending) => ({
  /** The chat only decides between requests of one id: a sub-agent's operation lies in another. */
  opResult: (chatId: string, result: OpResult): void => {
    const name = { kind: "op", id: result.id, chatId, anyChat: true } as const
    if (!pending.answer(name, result)) throw nothingWaits(`operation or call ${result.id}`)
  },
  opProgress: (chatId: string, { id, output }: OpProgress): void => {
    const name = { kind: "op", id, chatId, anyChat: true } as const
    if (!pending.progress(name, output)) throw nothingWaits(`operation or call ${id}`)
  },
  /** Whether an operation or an extra tool's call still waits for its result. */
  opWaits: (chatId: string, id: string): boolean => pending.waits({ kind: "op", id, chatId }),
  /** The id of the call that asked. Throws `invalid` for an answer that does not fit the question. */
  questionAnswer: async (chatId: string, answer: QuestionAnswer): Promise<string> => {
    await pending.allWait(chatId)
    const { question, call_id } = answer
    const id = call_id ?? pending.earliest("question", chatId) ?? ""
    const name = { kind: "question", id, question, chatId } as const
    if (!pending.answer(name, answer)) throw nothingWaits(`question ${question} in this chat`)
    return id
  },
})

const nothingWaits = (what: string): KernelError =>
  new KernelError("not_found", `no ${what} waits for an answer; it may be settled already`)
