/**
 * The rules of `secrets.rules`. They run in the engine of RE2, whose time grows with the text alone, so that no
 * pattern can hold up the kernel; it knows neither lookaround nor back references.
 */
import { errorText, KernelError } from "../../lib/error.ts"
import type { Redact } from "../output.ts"

export interface UserRule {
  name: string
  pattern: string
}

type Engine = typeof import("re2js")

/** Throws KernelError("config") that names the key of a pattern that cannot be read. */
export async function userRules(rules: readonly UserRule[]): Promise<Redact[]> {
  if (rules.length === 0) return []
  // Loaded for those who have rules: it takes as long as half a start of the kernel.
  const engine = await import("re2js")
  return rules.map((rule, index) => userRule(engine, rule, `secrets.rules[${index}].pattern`))
}

function userRule(engine: Engine, { name, pattern }: UserRule, path: string): Redact {
  const compiled = compile(engine, pattern, path)
  const placeholder = engine.RE2JS.quoteReplacement(`[redacted: ${name}]`)
  return (text) => compiled.matcher(text).replaceAll(placeholder)
}

function compile({ RE2JS, RE2JSException }: Engine, pattern: string, path: string) {
  try {
    const compiled = RE2JS.compile(pattern)
    if (!compiled.matcher("").matches()) return compiled
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const message = `${errorText(error)}; lookaround and back references are not possible here`
    throw new KernelError("config", message, { path })
  }
  throw new KernelError("config", "expected a pattern that does not match the empty text", { path })
}
