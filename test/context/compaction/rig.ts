/** A kernel whose model sums up as the test wants, with thresholds that a few messages reach. */
import type { Tree } from "../../../src/config/merge.ts"
import type { MockOptions } from "../../../src/llm/mock.ts"
import type { ModelRequest } from "../../../src/llm/provider.ts"
import type { Message } from "../../../src/schema/message.ts"
import { type TestKernel, type TestKernelOptions, testKernel } from "../../support/kernel.ts"

type Answer = NonNullable<MockOptions["answer"]>

export interface FoldRig {
  kernel: TestKernel
  /** Requests of turns. */
  asked(): ModelRequest[]
  /** Requests for a summary. */
  summed(): ModelRequest[]
}

interface FoldRigOptions extends Omit<TestKernelOptions, "mock"> {
  context?: Tree
  handover?: Answer
  /** Answers what turns ask; undefined leaves it to the script. */
  reply?: Answer
}

/** Folds at 1000 tokens and keeps 300 of them. `handover` answers what asks for a summary. */
export async function foldRig({
  context = {},
  handover = () => ({ say: "HANDOVER" }),
  reply = () => undefined,
  ...options
}: FoldRigOptions = {}): Promise<FoldRig> {
  const kernel = await testKernel({
    ...options,
    config: {
      ...options.config,
      context: { compact_after_tokens: 1000, compact_keep_tokens: 300, ...context },
    },
    mock: { answer: (request) => (isHandover(request) ? handover(request) : reply(request)) },
  })
  return {
    kernel,
    asked: () => kernel.requests.filter((request) => !isHandover(request)),
    summed: () => kernel.requests.filter(isHandover),
  }
}

const isHandover = ({ system }: ModelRequest): boolean =>
  system[0]?.text.startsWith("You end a shift") === true

/** About so many tokens of plain words that begin with `start`. */
export const wordy = (start: string, tokens: number): string =>
  `${start} ${"lorem ".repeat(Math.ceil((tokens * 4) / 6))}`.slice(0, tokens * 4)

export const stateOf = (request: ModelRequest | undefined): string =>
  (request?.messages.at(-1)?.blocks ?? [])
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .find((text) => text.startsWith("[state]")) ?? ""

/** What people and the model said, as the request bears it. */
export const spokenIn = (request: ModelRequest | undefined): string =>
  (request?.messages ?? [])
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) =>
      block.type === "text" && !block.text.startsWith("[state]") ? [block.text] : [],
    )
    .join("\n")

export const stored = (kernel: TestKernel, chat: string): Message[] =>
  kernel.api.messages.page(chat, { limit: 500 })

export const MARK = "[compacted] Older history was folded into the chat summary here."

export const isMark = ({ blocks }: Message): boolean =>
  blocks.length === 1 && blocks[0]!.type === "text" && blocks[0]!.text === MARK
