/** A kernel that is killed while it writes leaves every file whole. */
import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FILE_NAMES, textOf } from "./patch-versions.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

const KILLS = 6

test("a kill in the middle of writing leaves each file old or new, never torn", async () => {
  for (let kill = 0; kill < KILLS; kill++) {
    const folder = mkdtempSync(join(tmpdir(), "eva-kill-"))
    try {
      for (const name of FILE_NAMES) writeFileSync(join(folder, name), textOf(0))
      const told = await patchUntilKilled(folder, { rounds: 2 + kill, pauseMs: kill * 1.7 })
      for (const name of FILE_NAMES) {
        const text = readFileSync(join(folder, name), "utf8")
        const version = Number(/^version (\d+)\n/.exec(text)?.[1])
        // What it told of is there; the patch behind it may have landed in part.
        expect(version).toBeGreaterThanOrEqual(told)
        expect(text === textOf(version)).toBe(true)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
})

/** Kills a little behind the told round, so that the moment differs; the last version that it told of. */
async function patchUntilKilled(
  folder: string,
  { rounds, pauseMs }: { rounds: number; pauseMs: number },
): Promise<number> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "patch-loop.ts"), folder], {
    stdout: "pipe",
    stderr: "inherit",
  })
  let told = ""
  let pausing = false
  for await (const chunk of child.stdout) {
    told += Buffer.from(chunk).toString()
    if (pausing || told.split("\n").length <= rounds) continue
    pausing = true
    setTimeout(() => child.kill("SIGKILL"), pauseMs)
  }
  await child.exited
  expect(child.signalCode).toBe("SIGKILL")
  return Number(told.slice(0, told.lastIndexOf("\n")).split("\n").at(-1))
}
