/** The first request of an empty chat: small, with every tool within reach. */
import { afterEach, expect, test } from "bun:test"
import { ToolsSection } from "../../src/config/sections/tools.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

const ON_DEMAND = ToolsSection.properties.on_demand.default as string[]

test("every tool that the master may use is offered, or listed by its name or its family, and comes when it is loaded", async () => {
  kernel = await testKernel({ config: { tools: { on_demand: ON_DEMAND } } })
  const chat = kernel.newChat()
  const body = { trusted: true, client_ops: true }
  await kernel.turn(chat, { text: "Hello", ...body })
  const [request] = kernel.requests
  const offered = new Set(request!.tools.map(({ name }) => name))
  const list = request!.system[0]!.text.split("[hidden tools]")[1]!.split("\n\n")[0]!
  const listed = new Set([...list.matchAll(/^- ([\w-]+)/gm)].map(([, name]) => name))
  const tools = kernel.api.registry.list().map(({ tool }) => tool)
  const away = tools.filter(({ name }) => !offered.has(name))
  expect(away.length).toBeGreaterThan(15)
  // A sub-agent's or an anchored turn's own tools are no concern of this one.
  const open = away.filter(({ gates }) =>
    gates.every((gate) => gate === "master_only" || gate === "trusted_only"),
  )
  for (const { name, group } of open) expect(listed.has(name) || listed.has(group)).toBe(true)
  for (const { name } of open) {
    const before = kernel.requests.length
    await kernel.turn(chat, {
      text: plan([{ call: "tool_load", input: { name } }, { say: "ok" }]),
      ...body,
    })
    const [, next] = kernel.requests.slice(before)
    expect(next!.tools.map((tool) => tool.name)).toContain(name)
  }
  const { images: _images, ...sent } = request!
  expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(16 * 1024)
})
