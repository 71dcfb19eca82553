/** What the first request of an empty chat weighs on the wire, with every tool of the kernel registered. */
import { ToolsSection } from "../../../src/config/sections/tools.ts"
import { hasFakeLlm, startFakeLlm } from "../../support/fake-llm.ts"
import { testKernel } from "../../support/kernel.ts"
import type { Bench } from "../bench.ts"
import type { Row } from "../report.ts"

/** As it is without a word in the settings. */
const ON_DEMAND = ToolsSection.properties.on_demand.default as string[]
const MODEL = "fake-1"
const KB = 1024

export const firstRequest: Bench = {
  name: "first-request",
  run: async ({ say }) => {
    const rows: Row[] = []
    for (const provider of ["anthropic", "openai"]) {
      say(`first-request: ${provider}`)
      rows.push(await measure(provider))
    }
    return rows
  },
}

async function measure(provider: string): Promise<Row> {
  const figure = `${provider}: first request of an empty master chat at a terminal`
  if (!hasFakeLlm()) {
    return { figure, measured: undefined, unit: "KB", note: "the fake model server is absent" }
  }
  const upstream = await startFakeLlm()
  const kernel = await testKernel({
    config: {
      tools: { on_demand: ON_DEMAND },
      llm: {
        ...{ provider, api_key: "k", code_model: MODEL },
        base_url: provider === "openai" ? "http://openrouter.ai/v1" : upstream.url,
        ...(provider === "openai" && { proxy: upstream.url }),
        ...{ model: { general: MODEL }, models: [{ name: MODEL }] },
      },
    },
  })
  try {
    const body = { text: "Hello", trusted: true, client_ops: true }
    await kernel.turn(kernel.newChat(), body)
    const [sent] = await upstream.bodies()
    const tools = (sent?.tools as unknown[] | undefined)?.length
    return {
      figure,
      measured: Buffer.byteLength(JSON.stringify(sent)) / KB,
      ...{ unit: "KB", goal: { max: 16 } },
      note: `${tools} of ${kernel.api.registry.list().length} tools in sight, the others by name or purpose`,
    }
  } finally {
    await kernel.dispose()
    await upstream.stop()
  }
}
