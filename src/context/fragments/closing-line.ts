/** The line by which an answer says what it closes: `↩ #12, #15` at its very end. */

const CLOSING_LINE = /(?:^|\n)[ \t]*↩[ \t]*(#[^\s,]+(?:[ \t]*,[ \t]*#[^\s,]+)*)\s*$/u

/** The ids that a surface gave the closed messages; empty without such a line. */
export function closedIds(text: string): string[] {
  const ids = CLOSING_LINE.exec(text)?.[1]
  return ids ? ids.split(",").map((id) => id.trim().slice(1)) : []
}

export const withoutClosingLine = (text: string): string => text.replace(CLOSING_LINE, "")
