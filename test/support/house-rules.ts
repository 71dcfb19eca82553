/**
 * The rules of the house as pure functions: a tree of sources and a table go in, complaints come out,
 * one line each. The tables themselves (rooms, homes, exceptions) stand in `architecture.test.ts`.
 */
import { posix } from "node:path"
import { type Node, NodeFlags, SyntaxKind, type VariableDeclaration } from "typescript/unstable/ast"
import * as is from "typescript/unstable/ast/is"
import {
  circlesOf,
  compact,
  functionsOf,
  type Import,
  importsOf,
  lineOf,
  literalText,
  nodesOf,
  type SourceFile,
  type SourceTree,
  walk,
} from "./source-tree.ts"

/** Rooms from the ground up: `rows[n]` are the rooms of row n. A file directly under src is its own room. */
export type Rows = readonly (readonly string[])[]

/** Where a thing lives: a file, or a folder when it ends in a slash; `*` stands for a part of a name. */
export type Homes = Readonly<Record<string, readonly string[]>>

const at = (file: SourceFile, node: Node): string => `${file.path}:${lineOf(file, node)}`

const under = (tree: SourceTree, folder: string): SourceFile[] =>
  tree.files.filter((file) => file.path.startsWith(folder))

const lives = (path: string, homes: readonly string[]): boolean =>
  homes.some((home) => new Bun.Glob(home.endsWith("/") ? `${home}**` : home).match(path))

/** `src/chats/store.ts` → `chats`; `src/main.ts` → `main.ts`. */
const roomOf = (path: string): string => path.split("/")[1] ?? ""

const rowOf = (rows: Rows, path: string): number =>
  rows.findIndex((rooms) => rooms.includes(roomOf(path)))

/** Files of `src` in no room of the table. */
export function strayFiles(tree: SourceTree, rows: Rows): string[] {
  return [...tree.paths].filter(
    (path) => path.startsWith("src/") && !path.endsWith(".d.ts") && rowOf(rows, path) < 0,
  )
}

/** Imports that do not point down or stay in their room, and imports that leave `src`. */
export function wrongImports(tree: SourceTree, rows: Rows, outside: readonly string[]): string[] {
  const complaint = ({ from, to }: Import): string | undefined => {
    if (!to.startsWith("src/"))
      return outside.includes(to) ? undefined : `${from} imports ${to}, which is outside src`
    if (roomOf(from) === roomOf(to)) return undefined
    const [own, other] = [rowOf(rows, from), rowOf(rows, to)]
    // The topmost row is the composition: one room, though its files lie side by side.
    if (other < own || own === rows.length - 1) return undefined
    const way = other === own ? "sideways" : "upward"
    return `${from} (row ${own}) imports ${way} ${to} (row ${other})`
  }
  return under(tree, "src/")
    .flatMap(importsOf)
    .filter((edge) => edge.relative)
    .map(complaint)
    .filter((text) => text !== undefined)
}

/** Files that import each other in a circle, types included. */
export function circles(tree: SourceTree): string[] {
  const graph = new Map(
    tree.files.map((file) => [
      file.path,
      importsOf(file)
        .filter((edge) => edge.relative && !edge.started)
        .map((edge) => edge.to),
    ]),
  )
  return circlesOf(graph).map((members) => members.join(" ↔ "))
}

/** Files of `src` that nothing in `src` imports and that are no entry point. */
export function deadFiles(tree: SourceTree, entries: readonly string[]): string[] {
  const imported = new Set(tree.files.flatMap(importsOf).map((edge) => edge.to))
  return [...tree.paths].filter(
    (path) =>
      path.startsWith("src/") &&
      !path.endsWith(".d.ts") &&
      !imported.has(path) &&
      !lives(path, entries),
  )
}

const SQL =
  /^\s*(?:select|insert\s+(?:or\s+\w+\s+)?into|replace\s+into|update\s+\w+\s+set|delete\s+from|create\s+(?:virtual\s+|temp\s+|unique\s+)?(?:table|index|trigger|view)|alter\s+table|drop\s+(?:table|index)|pragma|with\s+(?:recursive\s+)?\w+\s+as\s*\(|begin(?:\s+immediate)?$|vacuum)\b/i
const STATEMENT_CALLS = /\.(?:query|prepare|run|exec)$/
const SHOUTED =
  /^\s*(?:SELECT\s|INSERT\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s|CREATE\s+TABLE\s)/

/** SQL text, an `.sql` file or the SQLite driver anywhere but in a `store.ts` or in these folders. */
export function straySql(tree: SourceTree, homes: readonly string[]): string[] {
  const complaints = [...tree.paths].filter((path) => path.endsWith(".sql") && !lives(path, homes))
  for (const file of under(tree, "src/")) {
    if (lives(file.path, homes)) continue
    walk(file.syntax, (node) => {
      const text = literalText(node)
      if (text === undefined) return
      const asked =
        is.isCallExpression(node.parent) && STATEMENT_CALLS.test(compact(node.parent.expression))
      if (SHOUTED.test(text) || (asked && SQL.test(text)) || text === "bun:sqlite")
        complaints.push(`${at(file, node)} holds SQL: ${text.trim().slice(0, 40)}`)
    })
  }
  return complaints
}

/** Packages imported outside their home, and packages that have no home in the table. */
export function strayPackages(tree: SourceTree, homes: Homes): string[] {
  return under(tree, "src/")
    .flatMap(importsOf)
    .filter((edge) => !edge.relative && !/^(?:node|bun)(?::|$)/.test(edge.to))
    .filter((edge) => !lives(edge.from, homes[edge.to] ?? []))
    .map((edge) => `${edge.from} imports the package ${edge.to}`)
}

/**
 * Uses of a banned name outside its home. A key of the table is a dotted name (`Date.now`), a name with a
 * star at its end (`crypto.random*`), or `new Date()` for the constructor without arguments.
 */
export function strayNames(tree: SourceTree, homes: Homes): string[] {
  const complaints: string[] = []
  for (const file of under(tree, "src/"))
    walk(file.syntax, (node) => {
      const name = bannableName(node)
      if (name === undefined) return
      for (const [banned, home] of Object.entries(homes))
        if (matches(name, banned) && !lives(file.path, home))
          complaints.push(`${at(file, node)} uses ${name}`)
    })
  return complaints
}

const matches = (name: string, banned: string): boolean =>
  banned.endsWith("*") ? name.startsWith(banned.slice(0, -1)) : name === banned

function bannableName(node: Node): string | undefined {
  if (is.isPropertyAccessExpression(node)) return compact(node).replace(/^globalThis\.|\?/g, "")
  if (is.isNewExpression(node) && compact(node.expression) === "Date" && !node.arguments?.length)
    return "new Date()"
  if (is.isImportSpecifier(node)) return importedName(node)
  const isPlainUse = is.isIdentifier(node) && !is.isPropertyAccessExpression(node.parent)
  return isPlainUse ? node.text : undefined
}

/** `import { randomBytes } from "node:crypto"` is a use of `crypto.randomBytes`. */
function importedName(node: Node): string | undefined {
  const declaration = node.parent.parent.parent
  if (!is.isImportSpecifier(node) || !is.isImportDeclaration(declaration)) return undefined
  const from = literalText(declaration.moduleSpecifier) ?? ""
  return `${from.replace(/^node:/, "")}.${(node.propertyName ?? node.name).getText()}`
}

/** The type `any`, wherever it is written. */
export function anyTypes(tree: SourceTree): string[] {
  return tree.files.flatMap((file) =>
    nodesOf(file, (node): node is Node => node.kind === SyntaxKind.AnyKeyword).map(
      (node) => `${at(file, node)} says any`,
    ),
  )
}

/** Default exports and `index.ts` files: each thing has one name and one place. */
export function namelessExports(tree: SourceTree): string[] {
  return tree.files.flatMap((file) => {
    const found = nodesOf(
      file,
      (node): node is Node =>
        is.isExportAssignment(node) ||
        (node.kind === SyntaxKind.DefaultKeyword && is.isModifierLike(node)) ||
        (is.isExportSpecifier(node) && node.name.getText() === "default"),
    ).map((node) => `${at(file, node)} exports a default`)
    return posix.basename(file.path) === "index.ts" ? [...found, `${file.path} is a barrel`] : found
  })
}

/** State that outlives a call without an owner: `let` and empty collections at the top of a module. */
export function moduleState(tree: SourceTree, homes: readonly string[]): string[] {
  const owned = tree.files.filter((file) => !lives(file.path, homes))
  return owned.flatMap((file) =>
    file.syntax.statements.filter(is.isVariableStatement).flatMap((statement) => {
      const list = statement.declarationList
      const isConst = (list.flags & NodeFlags.Const) !== 0
      return [...list.declarations]
        .filter((one) => !isConst || startsEmpty(one))
        .map((one) => `${at(file, one)} keeps state in ${one.name.getText()}`)
    }),
  )
}

/** An empty collection exists to be filled, unless its type says that nobody may. */
function startsEmpty({ type, initializer }: VariableDeclaration): boolean {
  if (initializer === undefined || /readonly/i.test(type?.getText() ?? "")) return false
  const value = is.isAsExpression(initializer) ? initializer.expression : initializer
  if (!is.isNewExpression(value)) return ["[]", "{}"].includes(compact(value))
  return /^(?:Weak)?(?:Map|Set)$/.test(value.expression.getText()) && !value.arguments?.length
}

/** Files longer than the limit. */
export function longFiles(tree: SourceTree, limit: number): string[] {
  return tree.files
    .map((file) => ({ path: file.path, lines: file.text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > limit)
    .map(({ path, lines }) => `${path} has ${lines} lines`)
}

/**
 * Functions longer than the limit, or than their own limit in the list of exceptions (`path name` →
 * lines). An exception that nothing needs any more is a complaint too.
 */
export function longFunctions(
  tree: SourceTree,
  limit: number,
  exceptions: Readonly<Record<string, number>>,
): string[] {
  const needed = new Set<string>()
  const complaints = tree.files.flatMap((file) =>
    functionsOf(file)
      .filter(({ lines }) => lines > limit)
      .map(({ name, lines }) => ({ key: `${file.path} ${name}`, lines }))
      .filter(({ key, lines }) => {
        needed.add(key)
        return lines > (exceptions[key] ?? limit)
      })
      .map(({ key, lines }) => `${key} has ${lines} lines`),
  )
  const idle = Object.keys(exceptions).filter((key) => !needed.has(key))
  return [...complaints, ...idle.map((key) => `${key} needs no exception any more`)]
}

/** What a folder outside `src` imports beyond itself, these folders and these packages. */
export function wrongGuests(
  tree: SourceTree,
  folder: string,
  allowed: { folders: readonly string[]; packages: readonly string[] },
): string[] {
  return under(tree, folder)
    .flatMap(importsOf)
    .filter(({ to, relative }) =>
      relative
        ? ![folder, ...allowed.folders].some((open) => to.startsWith(open))
        : !/^(?:node|bun)(?::|$)/.test(to) && !allowed.packages.includes(to),
    )
    .map(({ from, to }) => `${from} imports ${to}`)
}
