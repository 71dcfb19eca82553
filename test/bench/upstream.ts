/** The fake model server that all figures are measured against: one program, outside this repository. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Child, startChild } from "./child.ts"

/** `EVA_FAKE_LLM` names another copy of it. */
const PROGRAM =
  process.env.EVA_FAKE_LLM ?? join(import.meta.dir, "../../../shared/bench/fake-llm.ts")

/** Why no model server can be started; undefined when it can. */
export const whyNoUpstream = (): string | undefined =>
  existsSync(PROGRAM)
    ? undefined
    : `the fake model server is absent: ${PROGRAM} (set EVA_FAKE_LLM to its path)`

/** A request as the upstream saw it; instants in epoch milliseconds with fractions. */
export interface UpstreamEntry {
  model: string
  t: number
  /** When the first text left. */
  tFirst: number
  /** When the last piece of the answer had left. */
  tEnd: number
}

export interface Upstream extends Child {
  /** All requests since the last call, in order of arrival. */
  takeLog(): Promise<UpstreamEntry[]>
}

export async function startUpstream(): Promise<Upstream> {
  const child = await startChild([process.execPath, PROGRAM], { FAKE_PORT: "0" })
  return {
    ...child,
    takeLog: async () => {
      const response = await fetch(`${child.url}/__log?brief=1`)
      const entries = (await response.json()) as UpstreamEntry[]
      await fetch(`${child.url}/__log`, { method: "DELETE" })
      return entries
    },
  }
}
