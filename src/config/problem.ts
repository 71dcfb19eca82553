/** What is wrong with a configuration: collected while it is read, thrown together as one error. */
import { KernelError } from "../lib/error.ts"

export interface Problem {
  /** The key, such as `llm.models[0].name`; empty when a whole file is wrong. */
  path: string
  message: string
  /** The file or environment variable that holds the value. */
  source?: string
}

export type Path = readonly string[]

/** `["llm", "models", "0", "name"]` as people write it: `llm.models[0].name`. */
export const pathText = (path: Path): string =>
  path.map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`)).join("")

/** Throws one KernelError("config") with a line for each problem; `path` is that of the first. */
export function throwProblems(problems: readonly Problem[]): void {
  const first = problems[0]
  if (!first) return
  const lines = problems.map(
    ({ path, message, source }) =>
      `${path}${path && ": "}${message}${source === undefined ? "" : ` (${source})`}`,
  )
  throw new KernelError("config", lines.join("\n"), { path: first.path })
}
