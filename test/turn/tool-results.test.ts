/** What a model is shown of results, through whole turns: cut by the trait of the tool, in short when they are old. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let kernel: TestKernel
let chat: string
beforeEach(async () => {
  kernel = await testKernel({
    config: {
      context: { tool_result_max_chars: 1000, reader_result_max_chars: 2000, tool_result_keep: 2 },
    },
  })
  chat = kernel.newChat()
})
afterEach(() => kernel.dispose())

const call = (name: string, input: object) => ({ call: name, input })
const shell = (command: string) => call("shell", { command })
const put = (name: string, content: string): string => {
  writeFileSync(join(kernel.folder, name), content)
  return join(kernel.folder, name)
}
const turn = (steps: object[]) =>
  kernel.turn(chat, { text: plan([...steps, { say: "done" }]), trusted: true })

/** The results of the last request, in order. */
const shown = (): string[] =>
  kernel.requests
    .at(-1)!
    .messages.flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === "tool_result" ? [block.output] : []))
const inputs = (): unknown[] =>
  kernel.requests
    .at(-1)!
    .messages.flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === "tool_use" ? [block.input] : []))

describe("a fresh result", () => {
  test("TOOL-29: of an ordinary tool keeps its head and tail around a mark that says how much is gone", async () => {
    await turn([shell("seq 1 2000")])
    const [output] = shown()
    expect(output).toMatch(/^1\n2\n3\n[\s\S]*\n\[middle cut: \d+ chars of \d+\]\n[\s\S]*1999\n2000/)
    expect(output!.length).toBeLessThan(1100)
  })

  test("TOOL-27: of a reader holds more, and stops at a line that it can be read on from", async () => {
    const path = put("a.txt", "a line of text\n".repeat(1000))
    await turn([
      call("read_file", { path, on: "server" }),
      call("find_pattern", { path, pattern: "line", max_hits: 500, on: "server" }),
      call("read_hex", { path, size: 8192, on: "server" }),
    ])
    const [lines, hits, dump] = shown()
    for (const output of [lines, hits, dump]) {
      expect(output!.length).toBeGreaterThan(1500)
      expect(output!.length).toBeLessThanOrEqual(2000)
      expect(output).not.toContain("cut:")
    }
    expect(lines).toMatch(/^\[lines 1-\d+ of 1000 — read on with offset \d+\]/)
    expect(hits).toMatch(/^\[\d+ hits in lines 1-\d+ — search on with from_line \d+\]/)
    expect(dump).toMatch(/^\[bytes 0-\d+ of 15000 — read on with offset \d+\]/)
  })

  test("TOOL-28: of a reader that was stored under a wider limit loses its tail, and asks for less", async () => {
    const path = put("a.txt", "a line of text\n".repeat(1000))
    await turn([call("read_file", { path, on: "server" })])
    const { folder } = kernel
    await kernel.close(0)
    const narrow = { context: { reader_result_max_chars: 1000 } }
    kernel = await testKernel({ folder, config: narrow })
    await turn([])
    const [output] = shown()
    expect(output!.length).toBeLessThan(1200)
    expect(output).toMatch(/\n\[tail cut: \d+ chars of \d+ — ask for a narrower window[^\]]*\]$/)
  })

  test("TOOL-25: that found nothing carries a mark that no model sees, and is the first to go", async () => {
    const path = put("a.txt", "one\n")
    await turn([call("find_pattern", { path, pattern: "nothing", on: "server" })])
    expect(shown()[0]).toContain("No line matches.")
    expect(JSON.stringify(kernel.requests.at(-1))).not.toContain("uneventful")
    await turn([])
    // Long before the window of fresh results is full.
    expect(shown()).toEqual(["[empty]"])
  })
})

describe("an old result", () => {
  test("TOOL-37: of a closed turn loses the long strings of its call, and keeps path, flags and offsets", async () => {
    const path = put("a.txt", "one\ntwo\n")
    const pattern = `one|${"x".repeat(400)}`
    const find = { path, pattern, flags: "i", from_line: 1, on: "server" }
    await turn([call("find_pattern", find), shell("echo 1"), shell("echo 2"), shell("echo 3")])
    expect(inputs()[0]).toEqual(find)
    await turn([])
    expect(inputs()[0]).toEqual({ ...find, pattern: `[elided: ${pattern.length} chars]` })
  })

  test("TOOL-30: is marked in English: read again, made again, found nothing", async () => {
    const path = put("a.txt", `${"a line of text\n".repeat(50)}`)
    const read = call("read_file", { path, on: "server" })
    const list = shell(`ls -a ${kernel.folder} /etc | head -40`)
    const nothing = call("find_pattern", { path, pattern: "nothing", on: "server" })
    await turn([read, list, nothing, read, list, shell("echo 1"), shell("echo 2")])
    await turn([])
    const results = shown()
    expect(results[0]).toBe("[re-read further down]")
    expect(results[1]).toStartWith("[same call as above")
    expect(results[2]).toBe("[empty]")
  })
})
