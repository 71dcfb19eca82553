/** What holds for every tree and every edit: a diff of ours applies to its target, a bad hunk changes nothing. */
import { expect, setDefaultTimeout, test } from "bun:test"
import { type FileTree, filesOf, latin1, patchFolder } from "./patch-tree.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

const ROUNDS = Number(process.env.EVA_PROPERTY_ROUNDS ?? 60)

test("a diff of two random trees turns the one into the other", async () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const random = generator(seed)
    const { before, after } = randomTrees(random)
    const sections = diffTrees(before, after, random)
    if (sections.length === 0) continue
    using folder = patchFolder(before)
    const { failed } = await folder.apply(toPatch(sections))
    expect([seed, failed]).toEqual([seed, []])
    expect([seed, filesOf(folder.tree())]).toEqual([seed, latin1(after)])
  }
})

test("TFILE-10: with one bad hunk anywhere in it the same diff changes nothing", async () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const random = generator(seed)
    const { before, after } = randomTrees(random)
    const sections = diffTrees(before, after, random)
    const victim = Object.keys(before).find((path) => before[path] === after[path])
    if (sections.length === 0 || victim === undefined) continue
    const bad = [`*** Update File: ${victim}`, "@@", "-this line stands nowhere", "+x"]
    const at = Math.floor(random() * (sections.length + 1))
    using folder = patchFolder(before)
    await expect(folder.apply(toPatch(sections.toSpliced(at, 0, bad)))).rejects.toThrow(
      "this line stands nowhere",
    )
    expect([seed, folder.tree()]).toEqual([seed, latin1(before)])
  }
})

type TextTree = Record<string, string>

const toPatch = (sections: string[][]): string =>
  ["*** Begin Patch", ...sections.flat(), "*** End Patch"].join("\n")

/** A linear congruential generator: the same seed gives the same run everywhere. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Lines are unique within a file, so that a short quotation means one place. */
function randomTrees(random: () => number) {
  const before: TextTree = {}
  const after: TextTree = {}
  const count = (most: number) => Math.floor(random() * (most + 1))
  let serial = 0
  const line = () => `${["", "  ", "\t"][count(2)]}line ${serial++} ${["", "–", "«x»"][count(2)]}`
  for (let file = 0; file < 2 + count(4); file++) {
    const path = ["", "dir/", "a/b/"][count(2)] + `file${file}`
    const ending = random() < 0.3 ? "\r\n" : "\n"
    const lines = Array.from({ length: 1 + count(30) }, line)
    const kind = random()
    if (kind < 0.85) before[path] = join(lines, ending)
    if (kind < 0.15) continue
    if (kind < 0.35 || kind >= 0.85) {
      after[path] = kind < 0.35 ? before[path]! : join(lines, "\n")
      continue
    }
    const edited = lines.flatMap((each) => {
      const dice = random()
      if (dice < 0.1) return []
      if (dice < 0.2) return [line()]
      return dice < 0.3 ? [each, line()] : [each]
    })
    after[path] = join(edited, ending)
  }
  return { before: before satisfies FileTree, after: after satisfies FileTree }
}

const join = (lines: readonly string[], ending: string): string =>
  lines.map((each) => each + ending).join("")

function diffTrees(before: TextTree, after: TextTree, random: () => number): string[][] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return paths.flatMap((path) => {
    const [was, is] = [before[path], after[path]]
    if (was === is) return []
    if (is === undefined) return [[`*** Delete File: ${path}`]]
    const lines = is.split(/\r?\n/).slice(0, -1)
    if (was === undefined) return [[`*** Add File: ${path}`, ...lines.map((each) => `+${each}`)]]
    const hunks = diffLines(was.split(/\r?\n/).slice(0, -1), lines, Math.floor(random() * 4))
    return [[`*** Update File: ${path}`, ...hunks]]
  })
}

/** Hunks with `context` lines around each change; neighbours that touch are one. */
function diffLines(was: string[], is: string[], context: number): string[] {
  const kept = new Set(was.filter((each) => is.includes(each)))
  const steps: { mark: string; text: string }[] = []
  let next = 0
  for (const text of was) {
    if (!kept.has(text)) {
      steps.push({ mark: "-", text })
      continue
    }
    while (is[next] !== text) steps.push({ mark: "+", text: is[next++]! })
    steps.push({ mark: " ", text })
    next++
  }
  for (; next < is.length; next++) steps.push({ mark: "+", text: is[next]! })

  const near = (at: number) =>
    steps.slice(Math.max(0, at - context), at + context + 1).some(({ mark }) => mark !== " ")
  const shown = steps.map((_step, at) => near(at))
  // An addition alone would go to the end of the file: it needs a line to hold on to.
  const anchored = shown.map(
    (each, at) => each || (steps[at + 1]?.mark === "+" && steps[at]!.mark === " "),
  )
  if (steps[0]?.mark === "+") {
    const first = steps.findIndex(({ mark }) => mark !== "+")
    for (let at = 0; at <= first; at++) anchored[at] = true
  }
  return steps.flatMap(({ mark, text }, at) => {
    if (!anchored[at]) return []
    return at === 0 || !anchored[at - 1] ? ["@@", mark + text] : [mark + text]
  })
}
