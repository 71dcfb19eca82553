/** What an answer says about the messages it closes, and headers that only the kernel may write. */

const CLOSING_LINE = /\n?^[ \t]*↩[ \t]*(#[^\s,]+(?:[ \t]*,[ \t]*#[^\s,]+)*)[ \t]*\s*$/u

/** The ext_ids of a trailing line such as `↩ #12, #15`; empty when there is none. */
export function closedIds(text: string): string[] {
  const lastLine = text.trimEnd().split("\n").at(-1) ?? ""
  const ids = CLOSING_LINE.exec(lastLine)?.[1]
  return ids ? ids.split(",").map((id) => id.trim().slice(1)) : []
}
