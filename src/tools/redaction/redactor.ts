/**
 * Wipes secrets out of a text before it is stored or sent. One pass finds the words that secrets hold or stand
 * beside; only there the rules look closer, each so far and no farther, so that no text makes this slow.
 */
import { maskLiterals } from "../../lib/mask.ts"
import type { Redact } from "../output.ts"
import { assignmentRules } from "./assignment.ts"
import { blockRules } from "./block-rules.ts"
import { createKeywordScan } from "./keyword-scan.ts"
import type { SecretRule, Span } from "./rule.ts"
import { tokenRules } from "./token-rules.ts"
import { type UserRule, userRules } from "./user-rules.ts"

export interface RedactorOptions {
  /** Whether the built-in rules apply. */
  builtin: boolean
  /** Applied after them, in their order. */
  rules: readonly UserRule[]
  /** Secrets known word for word; wiped out before everything else. */
  literals: readonly string[]
}

/** Throws KernelError("config") for a rule that cannot be read. */
export async function createRedactor(options: RedactorOptions): Promise<Redact> {
  const { builtin, rules, literals } = options
  const steps: Redact[] = [maskLiterals(literals)]
  if (builtin) steps.push(builtinRules())
  steps.push(...(await userRules(rules)))
  return (text) => steps.reduce((left, step) => step(left), text)
}

/** Made when the first text comes: the start of the kernel is counted in milliseconds. */
function builtinRules(): Redact {
  let made: Redact | undefined
  return (text) => {
    made ??= ruleSet([...blockRules(), ...tokenRules(), ...assignmentRules()])
    return made(text)
  }
}

interface Found extends Span {
  /** Its place in the list of rules: the first of two that meet names the secret. */
  rule: number
}

export function ruleSet(rules: readonly SecretRule[]): Redact {
  const rulesOf = new Map<string, number[]>()
  rules.forEach(({ anchors }, rule) => {
    for (const anchor of anchors) rulesOf.set(anchor, [...(rulesOf.get(anchor) ?? []), rule])
  })
  const words = [...rulesOf.keys()]
  const isExact = words.map((word) => /[A-Z]/.test(word))
  const { scan } = createKeywordScan(words)
  const byWord = [...rulesOf.values()]

  return (text) => {
    const found: Found[] = []
    let last: Found | undefined
    scan(text, (word, at, wordEnd) => {
      if (isExact[word] && !text.startsWith(words[word]!, at)) return
      for (const rule of byWord[word]!) {
        // Within a secret only a rule that names it better is of use.
        if (last && rule >= last.rule && at >= last.start && at < last.end) continue
        for (const { start, end } of rules[rule]!.find(text, at, wordEnd)) {
          const next = { start, end, rule }
          found.push(next)
          if (!last || end > last.end) last = next
        }
      }
    })
    return found.length === 0 ? text : replaced(text, merged(found), rules)
  }
}

/** Spans that overlap become one: what two rules see is wiped out whole. */
function merged(found: Found[]): Found[] {
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  const result: Found[] = []
  for (const next of found) {
    const last = result.at(-1)
    if (!last || next.start >= last.end) result.push({ ...next })
    else {
      last.end = Math.max(last.end, next.end)
      last.rule = Math.min(last.rule, next.rule)
    }
  }
  return result
}

function replaced(text: string, spans: readonly Found[], rules: readonly SecretRule[]): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end, rule } of spans) {
    parts.push(text.slice(at, start), placeholder(rules[rule]!.kind))
    at = end
  }
  parts.push(text.slice(at))
  return parts.join("")
}

const placeholder = (kind: string): string => `[redacted: ${kind}]`
