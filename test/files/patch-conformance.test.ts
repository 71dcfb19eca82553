/**
 * The patch engine against the public cases of peers: Codex is the norm; where its command line and its tool
 * differ we are the tool, which checks everything before it writes.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { changeText } from "../../src/files/patch/change-text.ts"
import { parsePatch } from "../../src/files/patch/parse.ts"
import type { FileChange, Hunk } from "../../src/files/patch/patch.ts"
import { seek, soughtLines } from "../../src/files/patch/seek.ts"
import { unwrap } from "../../src/files/patch/unwrap.ts"
import * as cases from "./patch-cases.ts"
import { filesOf, latin1, patchFolder } from "./patch-tree.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

if (cases.CASES_MISSING) process.stdout.write(`skipped: ${cases.CASES_MISSING}\n`)

/** Codex's command line leaves the first file of these behind; its tool does not, and neither do we. */
const COMMAND_LINE_ONLY = [
  "codex/scenario/015_failure_after_partial_success_leaves_changes",
  "codex/tool/failure_after_partial_success_leaves_changes",
]

/** Cases of other peers that contradict Codex, and what they want. */
const CONTRADICTIONS: Record<string, string> = {
  "copilot/267547": "new lines are indented like the ones they replace",
  "copilot-parser/edit_distance_above_threshold": "lines match that only resemble each other",
  "copilot-parser/missing_patch_end": "a patch without an end is taken for whole",
}

const isNorm = ({ dialect }: Pick<cases.ApplyCase, "dialect">): boolean =>
  dialect === "codex" || dialect === "codex-tool"

describe.skipIf(cases.CASES_MISSING !== undefined)("public cases", () => {
  test("TFILE-8: what Codex applies is applied byte for byte, what it refuses changes nothing", async () => {
    const norm = cases.readCases<cases.ApplyCase>("apply").filter(isNorm)
    const failed = await failures(norm.filter(({ id }) => !COMMAND_LINE_ONLY.includes(id)))
    expect(norm.length).toBeGreaterThan(100)
    expect(failed).toEqual([])
  })

  // Most of them also leave a last line without an end so, which Codex never does.
  test("looser dialects are taken where they do not contradict Codex, up to the end of the last line", async () => {
    const loose = cases
      .readCases<cases.ApplyCase>("apply")
      .filter((each) => !isNorm(each) && each.dialect !== "codex-legacy")
    const failed = (await failures(loose)).map(({ id }) => id)
    expect(failed.sort()).toEqual(Object.keys(CONTRADICTIONS).sort())
  })

  test("patches are read as Codex reads them, and refused with its sentences", () => {
    for (const each of cases.readCases<cases.ParseCase>("parse")) {
      expect([each.id, parsed(each)]).toEqual([each.id, expected(each)])
    }
  })

  test("a shell command around a patch is taken off where it surely is one", () => {
    for (const { id, argv, expect: wanted } of cases.readCases<cases.InvocationCase>(
      "invocation",
    )) {
      // A bare patch is what our own tool takes; for a shell it would be a mistake.
      if (argv.at(-1)!.startsWith("*** Begin Patch")) continue
      const { text, folder } = unwrap(argv.at(-1)!)
      const isPatch = text.startsWith("*** Begin Patch")
      expect([id, isPatch, isPatch ? (folder ?? null) : null]).toEqual([
        id,
        wanted.is_apply_patch,
        wanted.workdir ?? null,
      ])
    }
  })

  test("lines are found where Codex finds them", () => {
    for (const { id, lines, pattern, start, eof, expected } of cases.readCases<cases.SeekCase>(
      "seek",
    )) {
      const found = seek(soughtLines(lines), pattern, { from: start, endOfFile: eof })
      expect([id, found ?? null]).toEqual([id, expected])
    }
  })

  test("lists of changes apply to a text", () => {
    for (const { id, original, chunks, expect: wanted } of cases.readCases<cases.TextCase>(
      "chunks",
    )) {
      const outcome = outcomeOf(() => changeText(original, chunks.map(hunkOf), { path: "file" }))
      if (wanted.ok) expect([id, outcome]).toEqual([id, wanted.result!])
      else expect([id, outcome]).toEqual([id, expect.stringContaining(wanted.error_contains!)])
    }
  })

  test("diff bodies of the agents kits apply, up to the end of the last line", () => {
    for (const { id, mode, original, diff, expect: wanted } of cases.readCases<cases.TextCase>(
      "v4a_diff",
    )) {
      const outcome = outcomeOf(() => {
        const header = mode === "create" ? "*** Add File: f" : "*** Update File: f"
        const patch = `*** Begin Patch\n${header}\n${diff}\n*** End Patch`
        const [change] = parsePatch(patch, { lenient: true })
        if (change?.kind === "add") return change.content
        const { hunks } = change as Extract<FileChange, { kind: "update" }>
        return changeText(original, hunks, { path: "f", lenient: true })
      })
      const plain = (text: string) => text.replaceAll("\r", "").trimEnd()
      if (wanted.ok) expect([id, plain(outcome)]).toEqual([id, plain(wanted.result!)])
      else expect([id, outcome]).toEqual([id, expect.stringMatching(/^(Failed|Invalid)/)])
    }
  })
})

async function failures(list: readonly cases.ApplyCase[]) {
  const failed: { id: string; got: unknown }[] = []
  for (const { id, dialect, before, patch, expect: wanted } of list) {
    using folder = patchFolder(cases.treeOf(before))
    let ok = true
    try {
      await folder.apply(patch.replaceAll("$DIR", folder.dir))
    } catch {
      ok = false
    }
    const tree = folder.tree()
    const shape = isNorm({ dialect }) ? filesOf : endedFilesOf
    const right =
      wanted.after === undefined
        ? Object.entries(wanted.after_contains!).every(([path, part]) => tree[path]?.includes(part))
        : Bun.deepEquals(shape(tree), shape(latin1(cases.treeOf(wanted.after))))
    if (ok !== wanted.ok || !right) failed.push({ id, got: ok ? tree : "refused" })
  }
  return failed
}

const endedFilesOf = (tree: Record<string, string | null>) =>
  Object.fromEntries(
    Object.entries(filesOf(tree)).map(([path, content]) => [path, content!.replace(/\n?$/, "\n")]),
  )

function outcomeOf(work: () => string): string {
  try {
    return work()
  } catch (error) {
    return (error as Error).message
  }
}

function parsed({ mode, patch, expect: wanted }: cases.ParseCase) {
  // We read whole patches only; a stream that stops early is closed here.
  const whole = patch.trimEnd().endsWith("*** End Patch")
    ? patch
    : `${patch.slice(0, patch.lastIndexOf("\n"))}\n*** End Patch`
  try {
    const changes = parsePatch(
      mode === "strict" ? patch : unwrap(mode === "stream" ? whole : patch).text,
    )
    return wanted.hunks ? changes.map(storedOf) : changes.length
  } catch (error) {
    const { message } = error as Error
    const line = wanted.line === undefined ? "" : `line ${wanted.line}:`
    return message.includes(wanted.error_contains ?? "") && message.includes(line)
      ? "refused"
      : message
  }
}

const expected = ({ expect: wanted }: cases.ParseCase) =>
  wanted.ok ? (wanted.hunks ?? wanted.hunk_count ?? expect.any(Number)) : "refused"

function storedOf(change: FileChange) {
  if (change.kind === "add") return { op: "add", path: change.path, contents: change.content }
  if (change.kind === "delete") return { op: "delete", path: change.path }
  const chunks = change.hunks.map(({ anchors, lines, endOfFile }) => ({
    context: anchors[0] ?? null,
    old: lines.filter(({ kind }) => kind !== "added").map(({ text }) => text),
    new: lines.filter(({ kind }) => kind !== "removed").map(({ text }) => text),
    eof: endOfFile,
  }))
  return { op: "update", path: change.path, move_to: change.moveTo ?? null, chunks }
}

const hunkOf = (chunk: cases.StoredChunk): Hunk => ({
  anchors: chunk.context === null ? [] : [chunk.context],
  endOfFile: chunk.eof,
  lines: [
    ...chunk.old.map((text) => ({ kind: "removed" as const, text })),
    ...chunk.new.map((text) => ({ kind: "added" as const, text })),
  ],
})
