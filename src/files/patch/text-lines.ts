/** A text as lines that remember how each of them ends, so that what a patch does not touch stays as it is. */

export interface TextLine {
  text: string
  /** `\n`, `\r\n` or `\r`; empty for a last line without an end. */
  ending: string
}

const LINE = /([^\r\n]*)(\r\n|\n|\r|$)/y

export function splitLines(text: string): TextLine[] {
  const lines: TextLine[] = []
  LINE.lastIndex = 0
  while (LINE.lastIndex < text.length) {
    const match = LINE.exec(text)!
    lines.push({ text: match[1]!, ending: match[2]! })
  }
  return lines
}

export const joinLines = (lines: readonly TextLine[]): string =>
  lines.map(({ text, ending }) => text + ending).join("")

/**
 * How new lines end: like the first line of the file. A lone carriage return counts only in a file that has
 * no other end, since elsewhere it is a stray character.
 */
export function preferredEnding(lines: readonly TextLine[]): string {
  const endings = lines.map(({ ending }) => ending)
  return endings.find((each) => each.endsWith("\n")) ?? (endings.includes("\r") ? "\r" : "\n")
}
