/**
 * Reads the patch format that Codex made common: `*** Begin Patch`, sections `*** Add File: …`,
 * `*** Delete File: …`, `*** Update File: …` with `*** Move to: …` and hunks, `*** End Patch`.
 * Errors are worded as there, since models know those sentences, and quote the line.
 */
import { type FileChange, type Hunk, type HunkLine, MisfitError } from "./patch.ts"
import { BEGIN, END } from "./unwrap.ts"

const HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/
const MOVE = /^\*\*\* Move to: (.+)$/
const ENVIRONMENT = "*** Environment ID:"
const END_OF_FILE = "*** End of File"
const BARE_ANCHOR = "@@"

export interface ParseOptions {
  /**
   * Take what the format does not allow but what can be meant in one way only: context lines without their
   * leading space, `@@` lines on top of each other, an anchor glued to its `@@`.
   */
  lenient?: boolean
}

/** @throws MisfitError naming the line, counted from `*** Begin Patch` as 1 */
export function parsePatch(text: string, { lenient = false }: ParseOptions = {}): FileChange[] {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
  if (lines[0]!.trim() !== BEGIN) {
    throw new MisfitError(`Invalid patch: The first line of the patch must be '${BEGIN}'`)
  }
  if (lines.length < 2 || lines.at(-1)!.trim() !== END) {
    throw new MisfitError(`Invalid patch: The last line of the patch must be '${END}'`)
  }
  const reader: Reader = { lines: lines.slice(0, -1), at: 1, lenient }
  skipEnvironment(reader)

  const changes: FileChange[] = []
  while (reader.at < reader.lines.length) changes.push(readChange(reader))
  return changes
}

interface Reader {
  lines: readonly string[]
  /** Index of the next line. */
  at: number
  lenient: boolean
}

const wrong = (index: number, message: string): MisfitError =>
  new MisfitError(`Invalid patch hunk on line ${index + 1}: ${message}`)

const notAHeader = (index: number, line: string): MisfitError =>
  wrong(
    index,
    `'${line.trim()}' is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'`,
  )

/** Codex names a remote machine here; which machine is meant says our own parameter. */
function skipEnvironment(reader: Reader): void {
  for (let seen = 0; reader.lines[reader.at]?.trim().startsWith(ENVIRONMENT); seen++) {
    if (seen > 0) {
      throw new MisfitError("apply_patch environment_id cannot be specified more than once")
    }
    if (reader.lines[reader.at]!.trim() === ENVIRONMENT) {
      throw new MisfitError("apply_patch environment_id cannot be empty")
    }
    reader.at++
  }
}

function readChange(reader: Reader): FileChange {
  const start = reader.at
  const line = reader.lines[reader.at++]!
  const header = HEADER.exec(line.trim())
  if (!header) throw notAHeader(start, line)
  const path = header[2]!.trim()
  switch (header[1]) {
    case "Add":
      return { kind: "add", path, content: readContent(reader) }
    case "Delete":
      return { kind: "delete", path }
    default:
      return { kind: "update", path, ...readUpdate(reader, start, path) }
  }
}

function readContent(reader: Reader): string {
  let content = ""
  while (reader.lines[reader.at]?.startsWith("+")) {
    content += `${reader.lines[reader.at++]!.slice(1)}\n`
  }
  return content
}

function readUpdate(reader: Reader, start: number, path: string) {
  const move = MOVE.exec(reader.lines[reader.at]?.trimEnd() ?? "")
  if (move) reader.at++
  const hunks: Hunk[] = []
  while (reader.at < reader.lines.length && !atHeader(reader)) {
    const hunk = readHunk(reader, hunks.length === 0)
    if (hunk) hunks.push(hunk)
  }
  if (hunks.length === 0) throw wrong(start, `Update file hunk for path '${path}' is empty`)
  return { moveTo: move?.[1]?.trim(), hunks }
}

/** Inside an update an indented header is a context line, so only the end of the line may vary. */
const atHeader = ({ lines, at }: Reader): boolean => HEADER.test(lines[at]!.trimEnd())

/** One hunk; undefined for lines between hunks that say nothing. */
function readHunk(reader: Reader, first: boolean): Hunk | undefined {
  const anchors = readAnchors(reader)
  if (!anchors && !first) {
    const line = reader.lines[reader.at]!
    if (line.trim() === "") {
      reader.at++
      return undefined
    }
    throw wrong(reader.at, `Expected update hunk to start with a @@ context marker, got: '${line}'`)
  }
  const lines: HunkLine[] = []
  while (reader.at < reader.lines.length && !atHeader(reader)) {
    const line = reader.lines[reader.at]!
    if (line.trimEnd() === END_OF_FILE) {
      reader.at++
      if (lines.length > 0) return { anchors: anchors ?? [], lines, endOfFile: true }
      if (anchors) throw wrong(reader.at - 1, "Update hunk does not contain any lines")
      return undefined
    }
    if (lines.length > 0 && anchorOf(line, reader.lenient) !== undefined) break
    lines.push(readLine(reader, lines.length === 0))
  }
  if (lines.length > 0) return { anchors: anchors ?? [], lines, endOfFile: false }
  if (anchors) throw wrong(reader.at, "Update hunk does not contain any lines")
  return undefined
}

/** The `@@` lines that open a hunk; undefined when there are none. */
function readAnchors(reader: Reader): string[] | undefined {
  const anchors: string[] = []
  let opened = false
  while (reader.at < reader.lines.length) {
    const line = reader.lines[reader.at]!
    const anchor = anchorOf(line, reader.lenient)
    const blankBetween = reader.lenient && opened && line === "" && anotherAnchorFollows(reader)
    if ((anchor === undefined && !blankBetween) || (opened && !reader.lenient)) break
    if (anchor) anchors.push(anchor)
    opened = true
    reader.at++
  }
  return opened ? anchors : undefined
}

const anotherAnchorFollows = ({ lines, at, lenient }: Reader): boolean =>
  at + 1 < lines.length && anchorOf(lines[at + 1]!, lenient) !== undefined

/** What stands behind `@@`, empty for a bare one; undefined when the line is none. */
function anchorOf(line: string, lenient: boolean): string | undefined {
  if (line.trimEnd() === BARE_ANCHOR) return ""
  if (line.startsWith(`${BARE_ANCHOR} `)) return line.slice(BARE_ANCHOR.length + 1).trimEnd()
  return lenient && line.startsWith(BARE_ANCHOR) ? line.slice(BARE_ANCHOR.length).trim() : undefined
}

const KINDS: Record<string, HunkLine["kind"]> = { " ": "context", "-": "removed", "+": "added" }

function readLine(reader: Reader, first: boolean): HunkLine {
  const line = reader.lines[reader.at]!
  // An empty line is an empty context line whose space an editor or a model has cut.
  const kind = line === "" ? "context" : KINDS[line[0]!]
  if (kind) {
    reader.at++
    return { kind, text: line.slice(1) }
  }
  if (reader.lenient && !line.startsWith("*** ")) {
    reader.at++
    return { kind: "context", text: line }
  }
  throw wrong(
    reader.at,
    first
      ? `Unexpected line found in update hunk: '${line}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`
      : `Expected update hunk to start with a @@ context marker, got: '${line}'`,
  )
}
