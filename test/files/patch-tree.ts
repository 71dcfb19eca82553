/** A folder on the disk as the files of a patch, and whole trees of it. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { applyPatch, type PatchOutcome } from "../../src/files/patch/apply.ts"
import type { PatchFiles } from "../../src/files/patch/patch-files.ts"
import { treeFiles } from "../../src/files/tree-files.ts"
import { handsHere, readsAll } from "./hands-rig.ts"

/** By path from the top; a folder without a file in it is `null`. */
export type FileTree = Record<string, Uint8Array | string | null>

export interface PatchFolder extends Disposable {
  dir: string
  files: PatchFiles
  apply(patch: string): Promise<PatchOutcome>
  /** Bytes as latin1, so that a difference can be read. */
  tree(): Record<string, string | null>
}

/** @param over what differs from a plain folder, such as a write that fails */
export function patchFolder(before: FileTree, over: Partial<PatchFiles> = {}): PatchFolder {
  const dir = mkdtempSync(join(tmpdir(), "eva-patch-"))
  writeTree(dir, before)
  const files = { ...folderFiles(dir), ...over }
  return {
    dir,
    files,
    apply: (patch) => applyPatch(patch, files),
    tree: () => readTree(dir),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}

export const latin1 = (tree: FileTree): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(tree).map(([path, content]) => [
      path,
      content === null ? null : Buffer.from(content as string).toString("latin1"),
    ]),
  )

/** Without empty folders: what goes leaves its folder. */
export const filesOf = (tree: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(tree).filter(([, content]) => content !== null))

const folderFiles = (cwd: string): PatchFiles =>
  treeFiles({
    ...{ hands: handsHere(cwd), chatId: "chat", turnId: "turn" },
    beforeWrite: async () => {},
    seen: readsAll,
  })

function writeTree(dir: string, tree: FileTree): void {
  for (const [path, content] of Object.entries(tree)) {
    const at = join(dir, path)
    mkdirSync(content === null ? at : dirname(at), { recursive: true })
    if (content !== null) writeFileSync(at, content)
  }
}

function readTree(dir: string): Record<string, string | null> {
  const tree: Record<string, string | null> = {}
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(dir.length + 1)
    if (entry.isFile()) tree[name] = readFileSync(path, "latin1")
    else if (readdirSync(path).length === 0) tree[name] = null
  }
  return tree
}
