import { afterEach, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { socketFolder } from "../../src/shell/ssh-machine.ts"

let parent = ""
afterEach(() => rmSync(parent, { recursive: true, force: true }))

test("the folders of killed kernels go, those of living ones and of other programs stay", async () => {
  parent = mkdtempSync(join(tmpdir(), "eva-test-"))
  const child = Bun.spawn(["true"])
  await child.exited
  const living = `eva-ssh-${process.pid}-abcdef`
  for (const name of [`eva-ssh-${child.pid}-abcdef`, living, "eva-ssh-", "other"]) {
    mkdirSync(join(parent, name, "inner"), { recursive: true })
  }
  const own = socketFolder(parent)
  expect(own).toStartWith(join(parent, `eva-ssh-${process.pid}-`))
  const left = readdirSync(parent).map((name) => join(parent, name))
  const stay = [living, "eva-ssh-", "other"].map((name) => join(parent, name))
  expect(left.sort()).toEqual([own, ...stay].sort())
})
