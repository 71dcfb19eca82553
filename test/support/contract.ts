/**
 * The contract: promises with an id (`docs/contract/*.md`) on one side, test titles that carry these ids
 * on the other. Reading both and comparing them is pure; `docs/contract/README.md` explains the scheme.
 */
import type { Node } from "typescript/unstable/ast"
import * as is from "typescript/unstable/ast/is"
import { compact, type SourceTree, walk } from "./source-tree.ts"

export interface Row {
  id: string
  /** `docs/contract/turn.md:12` */
  where: string
}

export interface Title {
  ids: string[]
  /** `test/turn/loop.test.ts: TURN-009: …` */
  where: string
}

export interface Contract {
  /** Promises that a test must prove. */
  rows: Row[]
  /** Promises that a decision replaced: a test may show what holds instead. */
  overruled: Row[]
  /** Promises whose feature is not there yet: no test can prove them. */
  waiting: Row[]
  titles: Title[]
  /** Lines that should be rows and cannot be read. */
  unreadable: string[]
}

const OVERRULED = "Overruled or not applicable"
const WAITING = "Waits for a later feature"

const ROW = /^- ([A-Z]+-\d+[a-z]?) — \S/
const ID = /\b[A-Z]+-\d+[a-z]?\b/g
/** Names of standards that look like ids. */
const STANDARD = /^(?:AES|CP|ISO|MD|RFC|SHA|UTF|ANSI|HTTP)-/

/** Reads the lists (file name → text) and the titles of a tree of tests. */
export function readContract(lists: Record<string, string>, tests: SourceTree): Contract {
  const contract: Contract = {
    rows: [],
    overruled: [],
    waiting: [],
    titles: titlesOf(tests),
    unreadable: [],
  }
  for (const [file, text] of Object.entries(lists)) {
    const isExceptions = file.endsWith("exceptions.md")
    let target = isExceptions ? undefined : contract.rows
    for (const [index, line] of text.split("\n").entries()) {
      const where = `${file}:${index + 1}`
      if (isExceptions && line.startsWith("## "))
        target = exceptionSection(contract, line.slice(3).trim())
      if (!line.startsWith("- ")) continue
      const id = ROW.exec(line)?.[1]
      if (id === undefined || target === undefined) contract.unreadable.push(`${where} ${line}`)
      else target.push({ id, where })
    }
  }
  return contract
}

function exceptionSection(contract: Contract, heading: string): Row[] | undefined {
  if (heading === OVERRULED) return contract.overruled
  return heading === WAITING ? contract.waiting : undefined
}

/** What does not fit together, one line each. `known` are the ids of the source, when it is at hand. */
export function contractComplaints(contract: Contract, known?: ReadonlySet<string>): string[] {
  const listed = [...contract.rows, ...contract.overruled, ...contract.waiting]
  const proven = new Set(contract.titles.flatMap((title) => title.ids))
  const provable = new Set([...contract.rows, ...contract.overruled].map((row) => row.id))
  const first = new Map<string, string>()
  const twice = listed.filter(({ id, where }) => {
    if (first.has(id)) return true
    first.set(id, where)
    return false
  })
  return [
    ...contract.unreadable.map((line) => `not a row: ${line}`),
    ...twice.map(({ id, where }) => `${id} stands twice: ${first.get(id)} and ${where}`),
    ...contract.rows
      .filter((row) => !proven.has(row.id))
      .map(({ id, where }) => `${id} has no test (${where})`),
    ...contract.titles.flatMap(({ ids, where }) =>
      ids.filter((id) => !provable.has(id)).map((id) => `${id} is in no list (${where})`),
    ),
    ...listed
      .filter(({ id }) => known !== undefined && !known.has(id))
      .map(({ id, where }) => `${id} is not in the checklists (${where})`),
  ]
}

/** The ids that a checklist defines, one `- ID — …` line each. */
export const checklistIds = (text: string): string[] =>
  [...text.matchAll(/^- \**([A-Z]+-\d+[a-z]?)\b/gm)].map((match) => match[1]!)

/** Titles of tests that run: `test`, `it`, `test.each(…)`, `test.skipIf(…)`; not `skip` and `todo`. */
function titlesOf(tests: SourceTree): Title[] {
  const titles: Title[] = []
  for (const file of tests.files)
    walk(file.syntax, (node) => {
      const title = titleOf(node)
      if (title === undefined) return
      const ids = (title.match(ID) ?? []).filter((id) => !STANDARD.test(id))
      if (ids.length > 0) titles.push({ ids, where: `${file.path}: ${title}` })
    })
  return titles
}

function titleOf(node: Node): string | undefined {
  if (!is.isCallExpression(node)) return undefined
  const callee = compact(node.expression)
  if (!/^(?:test|it)(?:\.\w+(?:\(.*\))?)?$/s.test(callee)) return undefined
  if (/^(?:test|it)\.(?:skip|todo|failing)$/.test(callee)) return undefined
  const title = node.arguments[0]
  if (!title || !(is.isStringLiteralLikeNode(title) || is.isTemplateExpression(title)))
    return undefined
  return title.getText().slice(1, -1)
}
