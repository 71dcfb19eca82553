/**
 * What a patch says once it is read: a list of file changes, each naming a path. A change of an existing file
 * is a list of hunks that quote lines; there are no line numbers, the place is found by the quotation.
 */

export interface HunkLine {
  /** `context` stays as the file has it, `removed` goes, `added` comes. */
  kind: "context" | "removed" | "added"
  text: string
}

export interface Hunk {
  /** Lines to look for one after another before the hunk itself, such as a class and its method. */
  anchors: readonly string[]
  lines: readonly HunkLine[]
  /** `*** End of File`: the quoted lines are the last of the file. */
  endOfFile: boolean
}

export type FileChange =
  | { kind: "add"; path: string; content: string }
  | { kind: "delete"; path: string }
  | { kind: "update"; path: string; moveTo: string | undefined; hunks: readonly Hunk[] }

/** A patch that cannot be applied. The message quotes what is wrong, so that its writer can repair it. */
export class PatchError extends Error {
  override readonly name: string = "PatchError"
}

/** It does not fit its format or the file, as far as it was read strictly: a looser reading may. */
export class MisfitError extends PatchError {}

/** The lines that a hunk expects in the file. */
export const quotedLines = (lines: readonly HunkLine[]): string[] =>
  lines.filter(({ kind }) => kind !== "added").map(({ text }) => text)
