/**
 * Source files as syntax trees, parsed by the TypeScript compiler itself (its server process, on an
 * in-memory file system, so that a sample tree and the repository are read in the same way). What is
 * read out of a tree here are facts; what is allowed is said in `house-rules.ts`.
 */
import { readFileSync } from "node:fs"
import { posix } from "node:path"
import {
  type CallExpression,
  type Node,
  type SourceFile as Syntax,
  SyntaxKind,
} from "typescript/unstable/ast"
import * as is from "typescript/unstable/ast/is"
import { API } from "typescript/unstable/async"
import { createVirtualFileSystem } from "typescript/unstable/fs"

export interface SourceFile {
  /** Path from the repository root, with forward slashes. */
  path: string
  text: string
  syntax: Syntax
}

export interface SourceTree {
  files: SourceFile[]
  /** Paths of everything in the tree, also what is not TypeScript (`.sql`, `.txt`). */
  paths: Set<string>
}

export interface Import {
  from: string
  /** Path from the root for a relative import, else the name of the package or built-in module. */
  to: string
  relative: boolean
  /** Named by URL to be started, as a worker is, and so never part of the module graph. */
  started: boolean
}

export interface FunctionSize {
  name: string
  lines: number
}

/** Declarations of foreign modules (`.d.ts`) hold no code of ours. */
const isCode = (path: string): boolean => path.endsWith(".ts") && !path.endsWith(".d.ts")

const MOUNT = "/tree/"
const CONFIG = `${MOUNT}tsconfig.json`
const NO_LIBRARIES = `{ "compilerOptions": { "noResolve": true, "noLib": true, "types": [] } }`

/** Reads every file under these folders of the repository. */
export function readTree(root: string, folders: readonly string[]): Promise<SourceTree> {
  const glob = new Bun.Glob(`{${folders.join(",")}}/**/*`)
  const paths = [...glob.scanSync({ cwd: root, onlyFiles: true })].sort()
  return parseTree(
    Object.fromEntries(paths.map((path) => [path, readFileSync(posix.join(root, path), "utf8")])),
  )
}

/** Parses a tree that is given as path → text. */
export async function parseTree(texts: Record<string, string>): Promise<SourceTree> {
  const [tree] = await parseTrees([texts])
  return tree!
}

/** Parses several trees that know nothing of each other in one run of the compiler. */
export async function parseTrees(trees: readonly Record<string, string>[]): Promise<SourceTree[]> {
  const mount = (index: number, path: string): string => `${MOUNT}${index}/${path}`
  const code = trees.map((texts) => Object.entries(texts).filter(([path]) => isCode(path)))
  const mounted = code.flatMap((files, index) =>
    files.map(([path, text]) => [mount(index, path), text] as const),
  )
  const compiler = new API({
    cwd: MOUNT,
    fs: createVirtualFileSystem({ ...Object.fromEntries(mounted), [CONFIG]: NO_LIBRARIES }),
  })
  try {
    const snapshot = await compiler.updateSnapshot({ openProjects: [CONFIG] })
    const program = snapshot.getProject(CONFIG)?.program
    const parse = async (index: number, path: string): Promise<Syntax> => {
      const syntax = await program?.getSourceFile(mount(index, path))
      if (!syntax) throw new Error(`the compiler did not read ${path}`)
      return syntax
    }
    const parsed: SourceTree[] = []
    for (const [index, files] of code.entries())
      parsed.push({
        paths: new Set(Object.keys(trees[index] ?? {})),
        files: await Promise.all(
          files.map(async ([path, text]) => ({ path, text, syntax: await parse(index, path) })),
        ),
      })
    return parsed
  } finally {
    await compiler.close()
  }
}

/** Calls `visit` with every node below and including `node`, parents first. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  node.forEachChild((child) => walk(child, visit))
}

/** Every node of a file that satisfies a test. */
export function nodesOf<T extends Node>(file: SourceFile, test: (node: Node) => node is T): T[] {
  const found: T[] = []
  walk(file.syntax, (node) => {
    if (test(node)) found.push(node)
  })
  return found
}

export const lineOf = (file: SourceFile, node: Node): number => lineAt(file, node.getStart())

const lineAt = (file: SourceFile, offset: number): number =>
  file.text.slice(0, offset).split("\n").length

/** Source of a node without the white space in it, so that a dotted name compares as one word. */
export const compact = (node: Node): string => node.getText().replace(/\s+/g, "")

/** The text of a string literal or of the constant start of a template, else undefined. */
export function literalText(node: Node): string | undefined {
  if (is.isStringLiteral(node) || is.isNoSubstitutionTemplateLiteral(node)) return node.text
  return is.isTemplateExpression(node) ? node.head.text : undefined
}

/**
 * Every module that a file names: static and dynamic imports, type imports and import types, re-exports,
 * and files named by `new URL("./x", import.meta.url)` (workers).
 */
export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = []
  walk(file.syntax, (node) => {
    const started = startedUrl(node)
    const specifier = started ?? moduleSpecifier(node)
    const text = specifier && literalText(specifier)
    if (text === undefined) return
    const relative = text.startsWith(".")
    const to = relative
      ? posix.normalize(posix.join(posix.dirname(file.path), text))
      : packageOf(text)
    imports.push({ from: file.path, to, relative, started: started !== undefined })
  })
  return imports
}

function moduleSpecifier(node: Node): Node | undefined {
  if (is.isImportDeclaration(node) || is.isExportDeclaration(node)) return node.moduleSpecifier
  if (is.isImportTypeNode(node))
    return is.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined
  return is.isCallExpression(node) && isModuleCall(node) ? node.arguments[0] : undefined
}

function startedUrl(node: Node): Node | undefined {
  if (!is.isNewExpression(node) || compact(node.expression) !== "URL") return undefined
  const [path, base] = node.arguments ?? []
  return base && compact(base) === "import.meta.url" ? path : undefined
}

const isModuleCall = (node: CallExpression): boolean =>
  node.expression.kind === SyntaxKind.ImportKeyword ||
  ["require", "import.meta.resolve"].includes(compact(node.expression))

/** `@scope/name/deep` → `@scope/name`; `node:fs/promises` → `node:fs`. */
function packageOf(specifier: string): string {
  const parts = specifier.split("/")
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]!
}

/** The functions with a body, and how many lines each takes from its signature to its last brace. */
export function functionsOf(file: SourceFile): FunctionSize[] {
  const found: FunctionSize[] = []
  const visit = (node: Node, name: string): void => {
    const own = nameOf(node) ?? name
    if (is.isFunctionLikeDeclaration(node) && node.body !== undefined)
      found.push({ name: own, lines: lineAt(file, node.end) - lineOf(file, node) + 1 })
    node.forEachChild((child) => visit(child, own))
  }
  visit(file.syntax, "(top)")
  return found
}

function nameOf(node: Node): string | undefined {
  const named =
    is.isFunctionDeclaration(node) ||
    is.isMethodDeclaration(node) ||
    is.isVariableDeclaration(node) ||
    is.isPropertyAssignment(node) ||
    is.isClassDeclaration(node)
  return named ? node.name?.getText() : undefined
}

/** Groups of files that import each other in a circle, each sorted, by Tarjan's algorithm. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const connect = (file: string): void => {
    order.set(file, order.size)
    low.set(file, order.get(file)!)
    stack.push(file)
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) connect(next)
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!))
    }
    if (low.get(file) !== order.get(file)) return
    const members = stack.splice(stack.indexOf(file)).sort()
    if (members.length > 1 || graph.get(file)?.includes(file)) circles.push(members)
  }
  for (const file of graph.keys()) if (!order.has(file)) connect(file)
  return circles
}
