/**
 * What models put around a patch: a shell command with a here-document, a code fence, or nothing at all where
 * the markers belong. Only what surely is a wrapper comes off; prose before or behind a patch does not.
 */

export interface Unwrapped {
  text: string
  /** The folder of a leading `cd FOLDER && apply_patch <<EOF`; paths count from it. */
  folder: string | undefined
}

export const BEGIN = "*** Begin Patch"
export const END = "*** End Patch"

/** `<<EOF`, `apply_patch <<'EOF'`, `cat <<"EOF"`, `cd 'some folder' && apply_patch <<EOF`. */
const HERE_DOCUMENT =
  /^(?:cd\s+(?<folder>'[^']+'|"[^"]+"|[^\s'";&|<>]+)\s*&&\s*)?(?:apply_?patch|cat)?\s*<<-?\s*(?<quote>['"]?)(?<word>\w+)\k<quote>$/

const FENCE = /^(?<ticks>`{3,})[\w-]*$/
const CELL = "%%bash"
const FILE_HEADER = /^\*\*\* (?:Add|Delete|Update) File: /

/** The patch inside; text that is not recognised comes back as it is. */
export function unwrap(patch: string): Unwrapped {
  let lines = patch.trim().split("\n")
  let folder: string | undefined

  const last = () => lines.at(-1)!.trim()
  const dropOuter = () => {
    lines = lines.slice(1, -1).join("\n").trim().split("\n")
  }

  if (lines[0]!.trim() === CELL) lines = lines.slice(1)
  const fence = FENCE.exec(lines[0]?.trim() ?? "")
  if (fence && lines.length > 2 && last() === fence.groups!.ticks) dropOuter()
  const opening = HERE_DOCUMENT.exec(lines[0]?.trim() ?? "")
  if (opening && lines.length > 2 && last() === opening.groups!.word) {
    folder = opening.groups!.folder?.replace(/^(['"])(.*)\1$/, "$2")
    dropOuter()
  }
  if (FILE_HEADER.test(lines[0] ?? "") && last() !== END) lines = [BEGIN, ...lines, END]
  return { text: lines.join("\n"), folder }
}
