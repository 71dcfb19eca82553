/** Which tools read by windows or give full text, and that a page of a file fits into the prompt as it is. */
import { afterEach, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

const READERS = ["read_file", "find_pattern", "read_hex", "history_search"]
const FULL_TEXT = ["skill", "agent_wait", "agent_inbox", "memory_list", "chat_summary_get"]

test("CTX-41 CTX-43: readers declare their windows, and none of them is full text", async () => {
  kernel = await testKernel()
  const tools = kernel.api.registry.list().map(({ tool }) => tool)
  for (const { name, traits } of tools) {
    if (READERS.includes(name)) expect([name, traits.windowed]).toEqual([name, true])
    if (traits.uncapped) expect(FULL_TEXT).toContain(name)
  }
  expect(tools.map(({ name }) => name)).toContain("read_file")
})

test("CTX-42: a long page of a file ends on a line, says where to read on, and is shown uncut", async () => {
  kernel = await testKernel({ config: { context: { reader_result_max_chars: 3000 } } })
  const path = join(kernel.folder, "long.txt")
  writeFileSync(path, "строка текста\n".repeat(500))
  const chat = kernel.newChat()
  const step = { call: "read_file", input: { path, on: "server" } }
  await kernel.turn(chat, { text: plan([step, { say: "Read." }]), trusted: true })
  const output = kernel.requests
    .at(-1)!
    .messages.flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === "tool_result" ? [block.output] : []))[0]!
  expect(output).toMatch(/^\[lines 1-(\d+) of 500 — read on with offset \d+\]/)
  const last = Number(/^\[lines 1-(\d+)/.exec(output)![1])
  expect(output).toStartWith(`[lines 1-${last} of 500 — read on with offset ${last + 1}]`)
  expect(output).toEndWith(`\n${last}\tстрока текста`)
  expect(output.length).toBeLessThanOrEqual(3000)
  expect(output.length).toBeGreaterThan(2500)
})
