/**
 * Finds quoted lines in a file at four levels of strictness: as they are; without white space at their ends;
 * without white space at their edges; with typography written plainly. A stricter level anywhere in the
 * file beats a looser one before it.
 */

/** The lines of a file in the forms that they are compared in, each made when first asked for. */
export interface SoughtLines {
  readonly count: number
  /** One form per level, the strictest first. */
  form(level: number): readonly string[]
}

const LEVELS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainTypography(line.trim()),
]

export function soughtLines(lines: readonly string[]): SoughtLines {
  const forms: (readonly string[])[] = [lines]
  return {
    count: lines.length,
    form: (level) => {
      forms[level] ??= lines.map(LEVELS[level]!)
      return forms[level]
    },
  }
}

export interface SeekOptions {
  /** First index that may match. */
  from: number
  /** Only the last lines of the file may match. */
  endOfFile?: boolean
}

/** Index of the first of the lines that match `quoted`; undefined when there are none. */
export function seek(
  lines: SoughtLines,
  quoted: readonly string[],
  { from, endOfFile = false }: SeekOptions,
): number | undefined {
  if (quoted.length === 0) return from
  const last = lines.count - quoted.length
  const start = endOfFile ? Math.max(from, last) : from
  for (const [level, simplify] of LEVELS.entries()) {
    const form = lines.form(level)
    const wanted = quoted.map(simplify)
    for (let at = start; at <= last; at++) {
      if (wanted.every((line, index) => form[at + index] === line)) return at
    }
  }
  return undefined
}

/** Every index from 0 on at the strictest level that matches at all. */
export function seekAll(lines: SoughtLines, quoted: readonly string[]): number[] {
  for (const [level, simplify] of LEVELS.entries()) {
    const form = lines.form(level)
    const wanted = quoted.map(simplify)
    const found: number[] = []
    for (let at = 0; at <= lines.count - quoted.length; at++) {
      if (wanted.every((line, index) => form[at + index] === line)) found.push(at)
    }
    if (found.length > 0) return found
  }
  return []
}

/** The place where most of the quoted lines stand, at the loosest level; undefined when none does. */
export function closest(
  lines: SoughtLines,
  quoted: readonly string[],
): { at: number; matching: number } | undefined {
  const loosest = LEVELS.length - 1
  const form = lines.form(loosest)
  const wanted = quoted.map(LEVELS[loosest]!)
  let best: { at: number; matching: number } | undefined
  for (let at = 0; at < lines.count; at++) {
    let matching = 0
    for (const [index, line] of wanted.entries()) {
      if (line !== "" && form[at + index] === line) matching++
    }
    if (matching > (best?.matching ?? 0)) best = { at, matching }
  }
  return best
}

/** Characters that a keyboard writes otherwise; Codex's list, and the quotation marks of Russian and French. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u2018-\u201b\u2039\u203a]/g, "'"],
  [/[\u201c-\u201f\u00ab\u00bb]/g, '"'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " "],
]

/** Most lines have none and are done. */
const SPECIAL = /[^\u0020-\u007e\t]/

function plainTypography(line: string): string {
  if (!SPECIAL.test(line)) return line
  return plainSigns(line.normalize("NFC")).replaceAll("\u2026", "...")
}

/** Typography written plainly, sign by sign: places stay where they are. */
export const plainSigns = (text: string): string =>
  SIGNS.reduce((plain, [from, to]) => plain.replace(from, to), text)
