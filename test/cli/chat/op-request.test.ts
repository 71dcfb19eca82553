/** What is asked about on the client's machine, and what is not. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describeOp } from "../../../src/cli/chat/hands/op-request.ts"

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "eva-op-")))
  mkdirSync(join(root, "app/src"), { recursive: true })
  mkdirSync(join(root, "other"))
  for (const path of ["AGENTS.md", "app/AGENTS.md", "other/AGENTS.md", "secrets.txt"]) {
    writeFileSync(join(root, path), path)
  }
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test("a project's own files above the folder are read without a question; anything else outside is asked about", async () => {
  const cwd = join(root, "app/src")
  const grant = async (path: string) =>
    (await describeOp({ action: "read_bytes", path: join(root, path), offset: 0, size: 9 }, cwd))
      .grant
  expect(await grant("app/AGENTS.md")).toBeUndefined()
  expect(await grant("AGENTS.md")).toBeUndefined()
  expect(await grant("app/.eva/MEMORY.md")).toBeUndefined()
  expect(await grant("other/AGENTS.md")).toBe(`read: ${root}/other/AGENTS.md`)
  expect(await grant("secrets.txt")).toBe(`read: ${root}/secrets.txt`)
  expect(await grant("app/xAGENTS.md")).toBe(`read: ${root}/app/xAGENTS.md`)
})
