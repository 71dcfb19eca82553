/**
 * What every match of a regular expression must hold, as far as that is plain to see: the runs of ordinary
 * characters outside of groups, classes and alternatives. Too few is slow, one too many would lose matches, so
 * whatever is not understood gives nothing.
 */

/** A quantifier that starts with one of these may leave out what stands before it. */
const OPTIONAL = /^(?:[?*]|\{0)/
const QUANTIFIER = /^(?:[?*+]|\{\d+(?:,\d*)?\})\??/
/** Escaped, these stand for themselves. */
const PLAIN_ESCAPE = /^\\[$()*+./?[\\\]^{|}-]/

/** Runs of literal characters, in order. */
export function literalsOf(pattern: string): string[] {
  const runs: string[] = []
  let run: string[] = []
  const breakRun = (): void => {
    if (run.length > 0) runs.push(run.join(""))
    run = []
  }
  for (let rest = pattern; rest !== ""; ) {
    if (rest.startsWith("|")) return []
    const piece = nextPiece(rest)
    if (piece === undefined) return []
    const quantifier = QUANTIFIER.exec(rest.slice(piece.length))?.[0] ?? ""
    const literal = literalOf(piece)
    if (literal === undefined || OPTIONAL.test(quantifier)) breakRun()
    else run.push(literal)
    // Repeated, its last copy stands before what follows; how many stand before that is open.
    if (literal !== undefined && quantifier !== "" && !OPTIONAL.test(quantifier)) {
      breakRun()
      run = [literal]
    }
    rest = rest.slice(piece.length + quantifier.length)
  }
  breakRun()
  return runs
}

/** One atom: a group or a class as a whole, an escape, or a character. */
function nextPiece(rest: string): string | undefined {
  if (rest.startsWith("\\")) return escapeOf(rest)
  if (rest.startsWith("[")) return classOf(rest)
  if (rest.startsWith("(")) return groupOf(rest)
  return String.fromCodePoint(rest.codePointAt(0)!)
}

const escapeOf = (rest: string): string | undefined =>
  /^\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|c[a-z]|\d+|.)/isu.exec(
    rest,
  )?.[0]

const classOf = (rest: string): string | undefined => /^\[(?:\\.|[^\]\\])*\]/su.exec(rest)?.[0]

function groupOf(rest: string): string | undefined {
  let depth = 0
  for (let at = 0; at < rest.length; ) {
    const here = rest.slice(at)
    const piece = here.startsWith("\\")
      ? escapeOf(here)
      : here.startsWith("[")
        ? classOf(here)
        : here[0]
    if (piece === undefined) return undefined
    if (piece === "(") depth++
    if (piece === ")") depth--
    at += piece.length
    if (depth === 0) return rest.slice(0, at)
  }
  return undefined
}

/** What the atom stands for when it is one certain character. */
function literalOf(piece: string): string | undefined {
  if (PLAIN_ESCAPE.test(piece)) return piece.slice(1)
  return /^[\\[(.^$]/.test(piece) ? undefined : piece
}
