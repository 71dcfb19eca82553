/** The fake upstream as a process of its own, on a free port. */
import { existsSync } from "node:fs"

const PROGRAM = new URL("../../../shared/bench/fake-llm.ts", import.meta.url).pathname

/** False, with a printed reason, where the program is absent. */
export function hasFakeLlm(): boolean {
  if (existsSync(PROGRAM)) return true
  process.stderr.write(`skipped: ${PROGRAM} is absent\n`)
  return false
}

export interface FakeLlm {
  /** Without a version folder. */
  url: string
  /** Status and time of arrival (epoch ms) of each request so far. */
  log(): Promise<{ model: string; status: number; t: number }[]>
  /** The bodies of the requests since it was told to forget, in order. */
  bodies(): Promise<Record<string, unknown>[]>
  forget(): Promise<void>
  /** Which tool its models call, and with which arguments. */
  configure(config: { tool: string; toolArgs: string }): Promise<void>
  stop(): Promise<void>
}

/** On the given port, else on a free one. */
export async function startFakeLlm(port = 0): Promise<FakeLlm> {
  const child = Bun.spawn([process.execPath, PROGRAM], {
    env: { PATH: process.env.PATH ?? "", FAKE_PORT: String(port), FAKE_CHUNKS: "10" },
    stdout: "pipe",
    // It prints the cuts that it was told to make.
    stderr: "ignore",
  })
  let said = ""
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += chunk
    if (said.includes("\n")) break
  }
  const url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0]
  if (!url) throw new Error(`the fake upstream said: ${said}`)
  return {
    url,
    log: async () => (await fetch(`${url}/__log?brief=1`)).json() as ReturnType<FakeLlm["log"]>,
    bodies: async () => {
      const entries = (await (await fetch(`${url}/__log?bodies=1&brief=1`)).json()) as {
        body: string
      }[]
      return entries.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
    },
    forget: async () => void (await fetch(`${url}/__log`, { method: "DELETE" })),
    configure: async (config) =>
      void (await fetch(`${url}/__config`, { method: "POST", body: JSON.stringify(config) })),
    stop: async () => {
      child.kill()
      await child.exited
    },
  }
}
