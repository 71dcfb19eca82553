/** What a rule about secrets is: words by which a text is searched for it, and what is looked at there. */

/** A part of a text. */
export interface Span {
  start: number
  end: number
}

export interface SecretRule {
  /** Shown in place of the secret: `[redacted: KIND]`. */
  kind: string
  /**
   * One of these stands in each secret or right before it. ASCII; a small letter is found whatever its case, a
   * capital only as one.
   */
  anchors: readonly string[]
  /** The secrets at an anchor, which stands from `at` up to `wordEnd`. Looks so far and no farther. */
  find(text: string, at: number, wordEnd: number): readonly Span[]
}

const NONE: readonly Span[] = []

/**
 * A rule that is one regular expression. It is sticky and must be bounded; it is tried `back` characters before
 * the anchor. Its first group, if any, is what is kept before the secret.
 */
export function patternRule(rule: {
  kind: string
  anchors: readonly string[]
  pattern: RegExp
  back?: number
  /** The pattern is tried before all such characters that stand before the anchor. */
  backOver?: RegExp
  check?: (secret: string) => boolean
}): SecretRule {
  const { kind, anchors, pattern, back = 0, backOver, check } = rule
  return {
    ...{ kind, anchors },
    find: (text, at) => {
      if (at < back) return NONE
      pattern.lastIndex = backOver ? startBefore(text, at, backOver) : at - back
      const match = pattern.exec(text)
      if (!match) return NONE
      const start = match.index + (match[1]?.length ?? 0)
      const end = match.index + match[0].length
      if (check && !check(text.slice(start, end))) return NONE
      return [{ start, end }]
    },
  }
}

const BACK_MAX = 4000

function startBefore(text: string, at: number, chars: RegExp): number {
  let start = at
  while (start > 0 && at - start < BACK_MAX && chars.test(text[start - 1]!)) start--
  return start
}
