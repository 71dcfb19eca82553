/** Histories that a kernel can have written: speech, and calls with their results in one or several messages. */
import fc from "fast-check"
import type { NewMessage } from "../../src/chats/message-row.ts"
import { call, drafts, result, text } from "./rig.ts"

/** The drafts of one step; `n` makes its call ids unlike those of the others. */
export type Step = (chatId: string, n: number) => NewMessage[]

const speech: fc.Arbitrary<Step> = fc
  .boolean()
  .map((isUser) => (chatId) => [
    isUser ? drafts(chatId).user(text("hi")) : drafts(chatId).assistant(text("hello")),
  ])

const unit: fc.Arbitrary<Step> = fc
  .record({ width: fc.integer({ min: 1, max: 4 }), together: fc.boolean(), speaks: fc.boolean() })
  .map(({ width, together, speaks }) => (chatId, n) => {
    const { user, assistant } = drafts(chatId)
    const ids = Array.from({ length: width }, (_, k) => `${n}-${k}`)
    const results = ids.map((id) => result(id))
    return [
      assistant(...(speaks ? [text("I look")] : []), ...ids.map((id) => call(id))),
      ...(together ? [user(...results)] : results.map((block) => user(block))),
    ]
  })

export const history: fc.Arbitrary<Step[]> = fc.array(fc.oneof(speech, unit), {
  minLength: 1,
  maxLength: 8,
})
