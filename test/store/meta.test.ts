import { afterEach, expect, test } from "bun:test"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

test("what the token estimator learned about a model outlives a restart", async () => {
  kernel = await testKernel()
  const { folder } = kernel
  const weigh = (chat: string) => kernel.api.turns.prefixTokens(chat)
  const chat = kernel.newChat()
  const before = weigh(chat)
  // The provider counts four times what the estimate would be.
  const usage = { prompt_tokens: 4 * before, completion_tokens: 10 }
  for (let round = 0; round < 5; round++)
    await kernel.turn(chat, plan([{ say: "x", usage }], `${round}`))
  const learned = weigh(chat)
  expect(learned).toBeGreaterThan(before)
  await kernel.close(0)
  kernel = await testKernel({ folder })
  expect(weigh(chat)).toBe(learned)
})
