/** Turns that put sets on, and what a request offered. */
import type { Tree } from "../../src/config/merge.ts"
import type { MockOptions } from "../../src/llm/mock.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import type { Send } from "../../src/schema/send.ts"
import { plan, type SeenEvent, type TestKernel, testKernel } from "../support/kernel.ts"

export interface SetRig {
  kernel: TestKernel
  /** One turn of these steps, ended by words; its tool results. */
  play(chat: string, steps: unknown[], body?: Partial<Send>): Promise<Played>
}

export interface Played {
  events: SeenEvent[]
  results: { output: string; is_error: boolean }[]
  /** Of this turn, in order. */
  requests: ModelRequest[]
}

export async function setRig(config: Tree = {}, answer?: MockOptions["answer"]): Promise<SetRig> {
  const kernel = await testKernel({ config, ...(answer && { mock: { answer } }) })
  return {
    kernel,
    play: async (chat, steps, body = {}) => {
      const before = kernel.requests.length
      const events = await kernel.turn(chat, { text: plan([...steps, { say: "ok" }]), ...body })
      return {
        events,
        results: events.flatMap((event) =>
          event.type === "tool_result" ? [{ output: event.output, is_error: event.is_error }] : [],
        ),
        requests: kernel.requests.slice(before).filter(({ tools }) => tools.length > 0),
      }
    },
  }
}

export const call = (name: string, input: object = {}) => ({ call: name, input })

export const offered = (request: ModelRequest | undefined): string[] =>
  request?.tools.map(({ name }) => name) ?? []

export const systemOf = (request: ModelRequest | undefined): string =>
  request?.system.map(({ text }) => text).join("\n") ?? ""

/** From a marker to the next empty line. */
export const sectionOf = (request: ModelRequest | undefined, marker: string): string =>
  systemOf(request)
    .split("\n\n")
    .find((part) => part.startsWith(marker)) ?? ""
