/** Ties the promises in `docs/contract/` to the tests that prove them, in both directions. */
import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { checklistIds, contractComplaints, readContract } from "./support/contract.ts"
import { parseTree, readTree } from "./support/source-tree.ts"

const ROOT = join(import.meta.dir, "..")
const LISTS = "docs/contract"
/** The checklists that the ids come from lie beside the repository where it is developed. */
const CHECKLISTS = join(ROOT, "../shared/spec")
const hasChecklists = existsSync(CHECKLISTS)
if (!hasChecklists)
  process.stderr.write("contract: the checklists are not here, so ids are not compared with them\n")

const readLists = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(ROOT, LISTS))
      .filter((name) => name.endsWith(".md") && name !== "README.md")
      .map((name) => [`${LISTS}/${name}`, readFileSync(join(ROOT, LISTS, name), "utf8")]),
  )

const knownIds = (): ReadonlySet<string> =>
  new Set(
    readdirSync(CHECKLISTS)
      .filter((name) => /^checklist-\d+\.md$/.test(name))
      .flatMap((name) => checklistIds(readFileSync(join(CHECKLISTS, name), "utf8"))),
  )

describe("the contract", () => {
  test("every row has a test and every id in a title has a row", async () => {
    const contract = readContract(readLists(), await readTree(ROOT, ["test"]))
    expect(contractComplaints(contract)).toEqual([])
  })

  test.skipIf(!hasChecklists)("every id is one of the checklists", async () => {
    const contract = readContract(readLists(), await parseTree({}))
    const unknown = contractComplaints(contract, knownIds()).filter((line) =>
      line.includes("is not in the checklists"),
    )
    expect(unknown).toEqual([])
  })
})

describe("the comparison can fail", () => {
  const compare = async (
    lists: Record<string, string>,
    tests: string,
    known?: ReadonlySet<string>,
  ): Promise<string[]> =>
    contractComplaints(readContract(lists, await parseTree({ "test/a.test.ts": tests })), known)

  const exceptions = (overruled: string, waiting: string): string =>
    `# Exceptions\n\n## Overruled or not applicable\n${overruled}\n\n## Waits for a later feature\n${waiting}\n`

  test("agrees when each row is proven, by one title or by several", async () => {
    const lists = {
      "aa.md": "# Area\n\nText with - a dash.\n- AA-1 — first\n- AA-02b — second\n- AA-3 — third",
      "exceptions.md": exceptions("- AA-4 — a decision", "- AA-5 — comes later"),
    }
    const tests = [
      'test("AA-1 AA-02b: both, in UTF-8", () => {})',
      "test.each([1])(`AA-3: for %d`, () => {})",
      'it.skipIf(process.platform === "win32")("AA-1: again", () => {})',
      'test("AA-4: what holds instead", () => {})',
      'other("AA-99", () => {})',
    ].join("\n")
    const known = new Set(["AA-1", "AA-02b", "AA-3", "AA-4", "AA-5"])
    expect(await compare(lists, tests, known)).toEqual([])
  })

  test("names a row without a test, and a skipped test proves nothing", async () => {
    const tests = 'test.todo("AA-1: later")\ntest.skip("AA-1: not now", () => {})'
    expect(await compare({ "aa.md": "- AA-1 — first" }, tests)).toEqual([
      "AA-1 has no test (aa.md:1)",
    ])
  })

  test("names a title without a row", async () => {
    expect(await compare({}, 'test("AA-2: second", () => {})')).toEqual([
      "AA-2 is in no list (test/a.test.ts: AA-2: second)",
    ])
  })

  test("names a row that stands twice, also once as an exception", async () => {
    const lists = {
      "aa.md": "- AA-1 — first\n- AA-1 — first again\n- AA-2 — second",
      "exceptions.md": exceptions("- AA-2 — a decision", ""),
    }
    expect(await compare(lists, 'test("AA-1 AA-2: both", () => {})')).toEqual([
      "AA-1 stands twice: aa.md:1 and aa.md:2",
      "AA-2 stands twice: aa.md:3 and exceptions.md:4",
    ])
  })

  test("names a title whose row waits for a later feature", async () => {
    const lists = { "exceptions.md": exceptions("", "- AA-5 — comes later") }
    expect(await compare(lists, 'test("AA-5: early", () => {})')).toEqual([
      "AA-5 is in no list (test/a.test.ts: AA-5: early)",
    ])
  })

  test("names an id that the checklists do not have, and a line that is no row", async () => {
    const lists = {
      "aa.md": "- AA-1 — first\n- AA-2 second",
      "exceptions.md": "- AA-3 — in no section",
    }
    expect(await compare(lists, 'test("AA-1: first", () => {})', new Set(["AA-2"]))).toEqual([
      "not a row: aa.md:2 - AA-2 second",
      "not a row: exceptions.md:1 - AA-3 — in no section",
      "AA-1 is not in the checklists (aa.md:1)",
    ])
  })

  test("reads ids from a checklist", () => {
    expect(checklistIds("# A\n\n- AA-01 — one\n- **AA-2** — two\n- prose AA-3\n")).toEqual([
      "AA-01",
      "AA-2",
    ])
  })
})
