/**
 * The rules of `secrets.rules`. They run in the engine of RE2, whose time grows with the text alone, so that no
 * pattern can hold up the kernel; it knows neither lookaround nor back references.
 */
import { RE2JS, RE2JSException } from "re2js"
import { errorText, KernelError } from "../../lib/error.ts"
import type { Redact } from "../output.ts"

export interface UserRule {
  name: string
  pattern: string
}

/** Throws KernelError("config") that names the key of a pattern that cannot be read. */
export const userRules = (rules: readonly UserRule[]): Redact[] => rules.map(userRule)

function userRule({ name, pattern }: UserRule, index: number): Redact {
  const compiled = compile(pattern, `secrets.rules[${index}].pattern`)
  const placeholder = RE2JS.quoteReplacement(`[redacted: ${name}]`)
  return (text) => compiled.matcher(text).replaceAll(placeholder)
}

function compile(pattern: string, path: string): RE2JS {
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
