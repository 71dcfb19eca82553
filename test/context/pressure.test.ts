/** The line `[window]`: silent, then figures, then a call to finish, and once a word after the fold. */
import { afterEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { pressureOf } from "../../src/context/pressure.ts"
import { isMachineText } from "../../src/schema/machine-text.ts"
import { plan } from "../support/kernel.ts"
import { type FoldRig, foldRig, stateOf, wordy } from "./compaction/rig.ts"

let rig: FoldRig | undefined
afterEach(async () => {
  await rig?.kernel.dispose()
  rig = undefined
})

const at = (changes: Partial<Parameters<typeof pressureOf>[0]>) =>
  pressureOf({
    ...{ used: 0, threshold: 40_000, windowLeft: Number.POSITIVE_INFINITY, reserve: 8000 },
    ...{ shown: { wrapUp: false, justFolded: true }, isFolded: false },
    ...changes,
  })

describe("the step", () => {
  test("CTX-77 PRM-032: nothing is said while 40 % of the threshold or more are left", () => {
    expect(at({ used: 24_000 })).toBeUndefined()
    expect(at({ used: 24_001 })).toEqual({
      step: "notice",
      figures: { used: 24_001, limit: 40_000, left: 15_999 },
    })
  })

  test("CTX-79 TURN-044: the nearest wall counts, be it the threshold or the model's window", () => {
    expect(at({ used: 1000, windowLeft: 9000 })).toEqual({
      step: "notice",
      figures: { used: 1000, limit: 10_000, left: 9000 },
    })
    expect(at({ used: 30_000, windowLeft: 12_000 })?.figures.left).toBe(10_000)
  })

  test("CTX-80 PRM-033 CFG-058: within the reserve it asks to finish, once, and not where the fold comes anyway", () => {
    expect(at({ used: 32_000 })?.step).toBe("wrap_up")
    expect(at({ used: 31_999 })?.step).toBe("notice")
    expect(at({ used: 39_999 })?.step).toBe("wrap_up")
    expect(at({ used: 40_000 })?.step).toBe("notice")
    expect(at({ used: 36_000, shown: { wrapUp: true, justFolded: true } })?.step).toBe("notice")
    expect(at({ used: 38_500, reserve: 1000 })?.step).toBe("notice")
  })

  test("CTX-82 PRM-034: after a fold one word of it takes the place of all figures", () => {
    const unsaid = { wrapUp: false, justFolded: false }
    expect(at({ isFolded: true, shown: unsaid })?.step).toBe("just_folded")
    expect(at({ used: 39_000, isFolded: true, shown: unsaid })?.step).toBe("just_folded")
    expect(at({ used: 39_000, isFolded: false, shown: unsaid })?.step).toBe("wrap_up")
  })

  test("the figures never contradict each other", () => {
    fc.assert(
      fc.property(fc.nat(60_000), fc.nat(60_000), fc.boolean(), (used, windowLeft, isFolded) => {
        const pressure = at({ used, windowLeft, isFolded })
        if (!pressure) return
        const { left, limit } = pressure.figures
        expect(left).toBeGreaterThanOrEqual(0)
        expect(limit).toBeLessThanOrEqual(40_000)
        if (left > 0) expect(left + used).toBe(limit)
      }),
    )
  })
})

const windowLine = (state: string): string | undefined =>
  state.split("\n").find((line) => line.startsWith("[window]"))

const said = (chat: string, tokens: number): Promise<unknown> =>
  rig!.kernel.turn(chat, plan([{ say: "yes" }], wordy("words", tokens)))

const lastLine = (): string | undefined => windowLine(stateOf(rig!.asked().at(-1)))

const THRESHOLD = { compact_after_tokens: 4000, compact_keep_tokens: 300 }

describe("in the prompt", () => {
  test("CTX-77 CTX-78 CTX-80 CTX-81: silence, figures, one call to finish, figures again, by what folding itself measures", async () => {
    rig = await foldRig({ context: { ...THRESHOLD, pressure: { wrap_up_reserve_tokens: 900 } } })
    const chat = rig.kernel.newChat()
    await said(chat, 2000)
    expect(lastLine()).toBeUndefined()
    await said(chat, 700)
    expect(lastLine()).toMatch(
      /^\[window\] \d+ of 4000 tokens are left before older history is folded into a summary\./,
    )
    await said(chat, 500)
    expect(lastLine()).toMatch(
      /^\[window\] Only \d+ tokens are left before older history is folded/,
    )
    await said(chat, 50)
    expect(lastLine()).toMatch(/^\[window\] \d+ of 4000 tokens are left/)
    expect(rig.summed()).toHaveLength(0)
    await said(chat, 800)
    expect(rig.summed()).toHaveLength(1)
  })

  test("CTX-78: in the scope `total` the prefix counts here as it counts there", async () => {
    rig = await foldRig({
      context: { compact_after_tokens: 12_000, compact_scope: "total", compact_keep_tokens: 300 },
    })
    const chat = rig.kernel.newChat()
    const prefix = rig.kernel.api.turns.prefixTokens(chat)
    await said(chat, 7500 - prefix)
    await said(chat, 10)
    expect(lastLine()).toMatch(/^\[window\] \d+ of 12000 tokens/)
  })

  test("CTX-82 CTX-83 PRM-034: the first turn after a fold is told once, also after one by hand; a fold knows nothing of it", async () => {
    rig = await foldRig({
      context: { ...THRESHOLD, compact_after_tokens: 40_000, compact_verbatim_percent: 1 },
    })
    const { kernel } = rig
    const chat = kernel.newChat()
    await said(chat, 600)
    await said(chat, 600)
    await kernel.turn(chat, plan([{ call: "chat_compact" }, { say: "ok" }]))
    await kernel.turn(chat, "one")
    expect(lastLine()).toStartWith("[window] Older history was folded into the summary just now.")
    await kernel.turn(chat, "two")
    expect(lastLine()).toBeUndefined()
    await kernel.turn(chat, plan([{ call: "chat_compact" }, { say: "ok" }]))
    await kernel.turn(chat, "three")
    expect(lastLine()).toStartWith("[window] Older history was folded")
  })

  test("what was shown once is not shown again in a branch of the same window", async () => {
    rig = await foldRig({
      context: { ...THRESHOLD, compact_after_tokens: 40_000, compact_verbatim_percent: 1 },
    })
    const { kernel } = rig
    const chat = kernel.newChat()
    await said(chat, 600)
    await said(chat, 600)
    await kernel.turn(chat, plan([{ call: "chat_compact" }, { say: "ok" }]))
    await kernel.turn(chat, "one")
    expect(lastLine()).toStartWith("[window] Older history was folded")
    const last = kernel.api.messages.page(chat, {}).at(-1)!
    const branch = kernel.api.chats.fork(chat, { before_message: last.id }).id
    await kernel.turn(branch, "two")
    expect(lastLine()).toBeUndefined()
  })

  test("CTX-84 CTX-85 CFG-057 FRG-017: the texts are settings with figures in them, and always stay machine text", async () => {
    rig = await foldRig({
      context: {
        ...THRESHOLD,
        pressure: { notice: "used {used} of {limit}, {left} left, {else} {left}" },
      },
    })
    const chat = rig.kernel.newChat()
    await said(chat, 2700)
    await said(chat, 10)
    const line = lastLine()!
    expect(line).toMatch(/^\[window\] used (\d+) of 4000, (\d+) left, \{else\} \2$/)
    expect(isMachineText(line)).toBe(true)
  })
})
