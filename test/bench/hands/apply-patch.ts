/** One patch of 50 hunks over 20 files: read, checked, kept for an undo and written to the disk. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createCheckpoints } from "../../../src/files/checkpoints.ts"
import { applyPatch } from "../../../src/files/patch/apply.ts"
import { createSeenFiles } from "../../../src/files/seen-files.ts"
import { treeFiles } from "../../../src/files/tree-files.ts"
import { handsHere } from "../../files/hands-rig.ts"
import { openTempStore } from "../../support/temp-store.ts"
import type { Bench } from "../bench.ts"
import { median } from "../statistics.ts"

const FILES = 20
const HUNKS = 50
const LINES = 400
const LIMIT = 2 ** 40

export const applyPatchBench: Bench = {
  name: "apply-patch",
  run: async ({ quick }) => {
    const times: number[] = []
    for (let round = 0; round <= (quick ? 5 : 25); round++) {
      const ms = await applyOnce()
      if (round > 0) times.push(ms)
    }
    return [
      {
        figure: `a patch of ${HUNKS} hunks over ${FILES} files`,
        measured: median(times),
        ...{ unit: "ms", goal: { max: 30 } },
        note: `files of ${LINES} lines; former bytes and new files are on the disk`,
      },
    ]
  },
}

async function applyOnce(): Promise<number> {
  const temp = openTempStore()
  const dir = mkdtempSync(join(tmpdir(), "eva-bench-"))
  try {
    const { store, clock } = temp
    const limits = { keepMs: LIMIT, fileMax: LIMIT, chatMax: LIMIT, totalMax: LIMIT }
    const { beforeWrite } = createCheckpoints({ store, clock, limits })
    store.db.run("INSERT INTO chats (id, created_at, updated_at) VALUES ('chat', 0, 0)")
    fill(dir)
    const files = treeFiles({
      hands: handsHere(dir),
      ...{ chatId: "chat", turnId: "turn", beforeWrite, seen: createSeenFiles() },
    })
    const patch = patchOf()
    const startMs = performance.now()
    const { landed } = await applyPatch(patch, files)
    const ms = performance.now() - startMs
    if (landed.length !== FILES) throw new Error(`${landed.length} of ${FILES} files landed`)
    return ms
  } finally {
    temp.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

const line = (file: number, at: number) =>
  `  const value${at} = compute(${file}, ${at}) // line ${at}`
const pathOf = (file: number) => `src/room${file % 4}/file${file}.ts`

function fill(dir: string): void {
  for (let file = 0; file < FILES; file++) {
    const lines = Array.from({ length: LINES }, (_, at) => line(file, at))
    const path = join(dir, pathOf(file))
    mkdirSync(join(path, ".."), { recursive: true })
    writeFileSync(path, `${lines.join("\n")}\n`)
  }
}

function patchOf(): string {
  const sections = Array.from({ length: FILES }, (_, file) => [`*** Update File: ${pathOf(file)}`])
  for (let hunk = 0; hunk < HUNKS; hunk++) {
    const file = hunk % FILES
    const at = 50 + Math.floor(hunk / FILES) * 120
    sections[file]!.push(
      ...["@@", ` ${line(file, at - 1)}`, `-${line(file, at)}`, `+// hunk ${hunk}`],
      ` ${line(file, at + 1)}`,
    )
  }
  return ["*** Begin Patch", ...sections.flat(), "*** End Patch"].join("\n")
}
