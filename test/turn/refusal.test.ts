/** A content filter that takes offence at the past of a chat does not lock it. */
import { afterEach, describe, expect, test } from "bun:test"
import type { ModelRequest } from "../../src/llm/provider.ts"
import {
  plan,
  recordedLog,
  type SeenEvent,
  type TestKernel,
  type TestKernelOptions,
  testKernel,
  texts,
} from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

/** What the filter takes offence at; nothing before a test says so. */
let offence: RegExp | undefined
/** Called at each request that the filter looks at. */
let onLook = (): void => {}

async function start(options: TestKernelOptions = {}): Promise<string> {
  offence = undefined
  onLook = () => {}
  const refuse = (request: ModelRequest) => {
    onLook()
    return offence?.test(JSON.stringify(request.messages)) ?? false
  }
  kernel = await testKernel({ ...options, mock: { refuse, ...options.mock } })
  return kernel.newChat()
}

const said = async (chat: string, ...words: string[]): Promise<void> => {
  for (const text of words) await kernel.turn(chat, text)
}
/** A turn and the requests that it made. */
async function turn(chat: string, text: string) {
  const before = kernel.requests.length
  const events = await kernel.turn(chat, text)
  return { events, requests: kernel.requests.slice(before) }
}
const retries = (events: readonly SeenEvent[]) => events.filter((event) => event.type === "retry")
const shownIn = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages)

describe("a turn of the past is the cause", () => {
  test("LLM-011: it is found, left out for good, told, and the step is taken again", async () => {
    const { log, lines } = recordedLog()
    const chat = await start({ log })
    await said(chat, ...["one", "two", "the forbidden fruit", "four", "five", "six", "seven"])
    offence = /forbidden/
    const { events, requests } = await turn(chat, "eight")
    expect(texts(events)).toBe("eight")
    expect(events.at(-1)).toEqual({ type: "done", reason: "done" })
    expect(retries(events)).toEqual([
      {
        type: "retry",
        reason: "content_filter: 2 earlier messages are left out from now on",
        ...{ wait_ms: 0, attempt: 2, model: "mock" },
      },
    ])
    // The step, the newest alone, three halvings, the proof of the rest, the step again.
    expect(requests).toHaveLength(7)
    expect(shownIn(requests.at(-1))).not.toContain("forbidden")
    expect(shownIn(requests.at(-1))).toContain("seven")
    expect(lines.filter((line) => line.includes("they are left out"))).toHaveLength(1)

    const later = await turn(chat, "nine")
    expect(later.requests).toHaveLength(1)
    expect(shownIn(later.requests[0])).not.toContain("forbidden")
    const stored = JSON.stringify(kernel.api.messages.page(chat, {}))
    expect(stored).toContain("the forbidden fruit")
  })

  test("LLM-011: several causes are all left out", async () => {
    const chat = await start()
    await said(chat, ...["forbidden 1", "two", "three", "forbidden 4"])
    offence = /forbidden/
    const { events, requests } = await turn(chat, "five")
    expect(texts(events)).toBe("five")
    expect(requests.length).toBeLessThanOrEqual(14)
    expect(shownIn(requests.at(-1))).toContain("three")
  })

  test("LLM-011: it goes with the calls and results of its turn", async () => {
    const chat = await start()
    const call = plan([{ call: "no_such_tool", input: { about: "forbidden" } }, { say: "done" }])
    await said(chat, "one", call, "three")
    offence = /forbidden/
    const { events, requests } = await turn(chat, "four")
    expect(texts(events)).toBe("four")
    const roles = requests.at(-1)!.messages.map((message) => message.role)
    expect(roles.join(" ")).toBe("user assistant user assistant user")
  })

  test("LLM-011: so does what somebody said without a turn, which is searched for once", async () => {
    const chat = await start()
    await said(chat, "one")
    await kernel.api.turns.silent(chat, { text: "the forbidden fruit", guest: true })
    await kernel.api.turns.silent(chat, { text: "and a pear", guest: true })
    offence = /forbidden/
    const { events, requests } = await turn(chat, "two")
    expect(events.at(-1)).toEqual({ type: "done", reason: "done" })
    expect(shownIn(requests.at(-1))).toContain("and a pear")
    expect((await turn(chat, "three")).requests).toHaveLength(1)
  })

  test("LLM-011: an answer that the model itself declined is searched for a cause alike", async () => {
    const chat = await start()
    await said(chat, "one")
    const { events, requests } = await turn(chat, plan([{ stop: "refusal" }, { say: "never" }]))
    // It declines whatever came before: the turn itself is the cause.
    expect(requests).toHaveLength(2)
    expect(events.at(-1)).toMatchObject({ type: "error", code: "refused" })
    expect(retries(events)).toEqual([])
  })

  test("LLM-011: probes are short, do not think, write no cache and are paid by the turn", async () => {
    const chat = await start({
      config: { llm: { prompt_cache: "5m", reasoning: "high", max_tokens: 5000 } },
    })
    await said(chat, "forbidden", "two")
    offence = /forbidden/
    const { events, requests } = await turn(chat, "three")
    const [first, ...probes] = requests.slice(0, -1)
    expect(first).toMatchObject({ maxTokens: 5000, effort: "high", cacheTtl: "5m" })
    expect(probes.length).toBeGreaterThan(1)
    for (const probe of probes) {
      expect(probe).toMatchObject({ maxTokens: 16, effort: "off", model: "mock" })
      expect(probe.system.map((part) => part.text)).toEqual(first!.system.map((part) => part.text))
      expect(probe.tools).toEqual(first!.tools)
      expect(probe).not.toContainAnyKeys(["cacheTtl", "sessionKey"])
    }
    const accepted = probes.filter((probe) => !shownIn(probe).includes("forbidden")).length + 1
    expect(events.filter((event) => event.type === "usage")).toHaveLength(accepted)
    const spend = await kernel.api.spend.ofChat(chat, { tokens: 0, prefix_tokens: null })
    expect(spend.by_source).toMatchObject([{ source: "message", requests: 2 + accepted }])
  })
})

describe("nothing in the past is to blame", () => {
  test("LLM-011: the newest message is the cause: the turn ends refused after one probe and is left out", async () => {
    const chat = await start()
    await said(chat, "one", "two")
    offence = /forbidden/
    const { events, requests } = await turn(chat, "forbidden")
    expect(events.at(-1)).toMatchObject({ type: "error", code: "refused", retryable: false })
    expect(retries(events)).toEqual([])
    expect(requests).toHaveLength(2)
    const later = await turn(chat, "four")
    expect(texts(later.events)).toBe("four")
    expect(later.requests).toHaveLength(1)
    expect(shownIn(later.requests[0])).toContain("two")
  })

  test("LLM-011: the first message of a chat, and a later step of a turn, are not searched for a cause", async () => {
    const chat = await start()
    offence = /forbidden/
    expect((await turn(chat, "forbidden")).requests).toHaveLength(1)
    await said(chat, "two")
    let looks = 0
    onLook = () => {
      looks++
      if (looks === 2) offence = /three/
    }
    const steps = plan([{ call: "no_such_tool" }, { say: "never" }], "three")
    const { events, requests } = await turn(chat, steps)
    expect(events.at(-1)).toMatchObject({ type: "error", code: "refused" })
    expect(requests).toHaveLength(2)
  })

  test("LLM-011: the search is bounded, and a filter that says no at random ends it", async () => {
    const chat = await start()
    await said(chat, ...Array.from({ length: 20 }, (_, index) => `say ${index}`))
    let looks = 0
    offence = /eva/
    onLook = () => {
      looks++
      offence = looks === 2 ? /no such word/ : /say/
    }
    const { events, requests } = await turn(chat, "last say")
    expect(events.at(-1)).toMatchObject({ type: "error", code: "refused" })
    expect(requests.length).toBeLessThanOrEqual(14)
  })

  test("LLM-011: a cancel ends the search and the turn", async () => {
    const chat = await start()
    await said(chat, "forbidden", "two", "three")
    offence = /forbidden/
    let looks = 0
    onLook = () => {
      looks++
      if (looks === 2) void kernel.api.turns.cancelChat(chat)
    }
    const { events } = await turn(chat, "four")
    expect(events.at(-1)).toEqual({ type: "done", reason: "cancelled" })
    expect(looks).toBe(2)
    offence = undefined
    expect(shownIn((await turn(chat, "five")).requests[0])).toContain("forbidden")
  })
})
