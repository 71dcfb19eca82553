/**
 * Applies the hunks of one file to its text. Hunks are looked for in order, each behind the one before.
 * Context lines stay as the file has them, also where they were quoted loosely.
 */
import { type Hunk, type HunkLine, MisfitError, quotedLines } from "./patch.ts"
import { closest, type SoughtLines, seek, seekAll, soughtLines } from "./seek.ts"
import { joinLines, preferredEnding, splitLines, type TextLine } from "./text-lines.ts"

export interface ChangeOptions {
  /** The file as messages name it. */
  path: string
  /** Also look above the hunk before, if the place is the only one, and read `\t` as a tab. */
  lenient?: boolean
}

/**
 * The text after the hunks. Every line of it has an end, as with Codex.
 *
 * @throws MisfitError quoting the lines that the file does not have, and what stands at the closest place
 */
export function changeText(text: string, hunks: readonly Hunk[], options: ChangeOptions): string {
  const lines = splitLines(text)
  const sought = soughtLines(lines.map((line) => line.text))
  const places: Place[] = []
  let from = 0
  for (const hunk of hunks) {
    const place = find({ sought, places, from, ...options }, hunk)
    places.push(place)
    from = Math.max(from, place.next)
  }
  return rewrite(lines, places)
}

interface Search extends ChangeOptions {
  sought: SoughtLines
  places: readonly Place[]
  from: number
}

interface Place {
  /** Index of the first line that is quoted. */
  at: number
  /** Number of lines that are quoted. */
  length: number
  lines: readonly HunkLine[]
  /** Where the next hunk is looked for. */
  next: number
}

function find(search: Search, hunk: Hunk): Place {
  const { sought } = search
  const from = behindAnchors(search, hunk.anchors)
  const quoted = quotedLines(hunk.lines)
  // Nothing quoted: Codex adds at the end, whatever the anchor says.
  if (quoted.length === 0) return { at: sought.count, length: 0, lines: hunk.lines, next: from }

  for (const lines of variants(hunk.lines, search.lenient)) {
    const wanted = quotedLines(lines)
    const options = { from, endOfFile: hunk.endOfFile }
    const at =
      seek(sought, wanted, options) ?? (search.lenient ? onlyPlace(search, wanted) : undefined)
    if (at !== undefined) {
      return { at, length: wanted.length, lines, next: at + wanted.length }
    }
  }
  throw new MisfitError(
    `Failed to find expected lines in ${search.path}:\n${quoted.join("\n")}${hint(search, quoted)}`,
  )
}

function behindAnchors(search: Search, anchors: readonly string[]): number {
  let { from } = search
  for (const anchor of anchors) {
    const at = seek(search.sought, [anchor], { from }) ?? again(search, anchor)
    if (at === undefined) {
      throw new MisfitError(`Failed to find context '${anchor}' in ${search.path}`)
    }
    from = at + 1
  }
  return from
}

/** The same anchor may head two hunks; it then stands above the place of the first. */
function again({ sought, lenient }: Search, anchor: string): number | undefined {
  const found = lenient ? seekAll(sought, [anchor]) : []
  return found.length === 1 ? found[0] : undefined
}

/** Hunks out of order: the place counts if there is no second one and no hunk has been there. */
function onlyPlace({ sought, places }: Search, wanted: readonly string[]): number | undefined {
  if (wanted.length === 0) return undefined
  const found = seekAll(sought, wanted).filter(
    (at) => !places.some((place) => at < place.at + place.length && place.at < at + wanted.length),
  )
  return found.length === 1 ? found[0] : undefined
}

/** The hunk as written, then as it may have been meant. */
function* variants(lines: readonly HunkLine[], lenient = false): Generator<readonly HunkLine[]> {
  yield lines
  let shorter = withoutLastBlank(lines)
  if (shorter) yield shorter
  if (!lenient) return
  while (shorter) {
    shorter = withoutLastBlank(shorter)
    if (shorter) yield shorter
  }
  if (lines[0]?.kind === "context" && lines[0].text === "") yield* variants(lines.slice(1), true)
  if (lines.some(({ text }) => text.includes("\\t"))) {
    yield* variants(
      lines.map((line) => ({ ...line, text: line.text.replaceAll("\\t", "\t") })),
      true,
    )
  }
}

/**
 * A blank line at the end is often only the gap to the next hunk, or the end of the last line counted twice.
 * Without it the last blank line of the result goes as well. Undefined when the quotation ends otherwise.
 */
function withoutLastBlank(lines: readonly HunkLine[]): HunkLine[] | undefined {
  const lastQuoted = lines.findLastIndex(({ kind }) => kind !== "added")
  if (lastQuoted < 0 || lines[lastQuoted]!.text !== "") return undefined
  const kept = lines.flatMap((line, index): HunkLine[] => {
    if (index !== lastQuoted) return [line]
    return line.kind === "context" ? [{ kind: "added", text: "" }] : []
  })
  const lastNew = kept.findLastIndex(({ kind }) => kind !== "removed")
  const last = kept[lastNew]
  if (last?.text !== "") return kept
  return last.kind === "added"
    ? kept.toSpliced(lastNew, 1)
    : kept.with(lastNew, { kind: "removed", text: "" })
}

/** Where most of the quotation stands, and the first line that differs there. */
function hint({ sought }: Search, quoted: readonly string[]): string {
  const place = closest(sought, quoted)
  if (!place || place.matching * 2 < quoted.length) return ""
  const [had, loose] = [sought.form(0), sought.form(3)]
  const wanted = soughtLines(quoted).form(3)
  const differs = wanted.findIndex((line, index) => loose[place.at + index] !== line)
  if (differs < 0) {
    return `\nThey stand on line ${place.at + 1}, which is not behind the hunk or @@ line before, or not the end.`
  }
  const line = place.at + differs
  const found = line < sought.count ? `'${had[line]}'` : "the end of the file"
  return `\nThe closest place begins on line ${place.at + 1}; there line ${line + 1} is ${found}, the patch has '${quoted[differs]}'.`
}

function rewrite(lines: readonly TextLine[], places: readonly Place[]): string {
  const ending = preferredEnding(lines)
  const result: TextLine[] = []
  let copied = 0
  for (const place of places.toSorted((a, b) => a.at - b.at)) {
    for (; copied < place.at; copied++) result.push(lines[copied]!)
    for (const { kind, text } of place.lines) {
      if (kind === "added") result.push({ text, ending })
      else if (kind === "context") result.push(lines[copied++]!)
      else copied++
    }
  }
  for (; copied < lines.length; copied++) result.push(lines[copied]!)
  return joinLines(result.map((line) => (line.ending === "" ? { ...line, ending } : line)))
}
