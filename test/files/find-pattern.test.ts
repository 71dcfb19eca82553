/** `find_pattern`: lines and their numbers, streaming and its end, long lines, and what is no text. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { appendFileSync, truncateSync } from "node:fs"
import { type FileRig, fileRig, MACHINES, numbered } from "./file-rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let rig: FileRig
beforeEach(() => {
  rig = fileRig()
})
afterEach(() => rig.close())

const MIB = 2 ** 20
const headOf = (output: string): string => output.split("\n", 1)[0]!
const hitsOf = (output: string): string[] => output.split("\n").slice(1)

for (const machine of MACHINES) {
  describe(`on ${machine}`, () => {
    const find = async (input: Record<string, unknown>) => {
      const { output, isError, uneventful } = await rig.call("find_pattern", input, { machine })
      return { output, isError, uneventful: uneventful ?? false }
    }

    test("TFILE-14 TFILE-21: matching lines come with their numbers, under a head that names the place", async () => {
      const path = rig.put("a.log", "start\nERROR one\nfine\nERROR two\n")
      expect(await find({ path: "a.log", pattern: "^ERROR (\\w+)$" })).toEqual({
        output: `[2 hits in lines 1-4] ${machine}:${path}\n2\tERROR one\n4\tERROR two`,
        isError: false,
        uneventful: false,
      })
    })

    test("TFILE-14: flags ignore case and layout and make quantifiers lazy", async () => {
      rig.put("a.txt", `Error: disk\nerror\n${"<b>x</b>".padEnd(500, "-")}<b>y</b>\n`)
      const of = async (pattern: string, flags: string) =>
        hitsOf((await find({ path: "a.txt", pattern, flags })).output)
      expect(await of("error : \\s disk # what it says", "ix")).toEqual(["1\tError: disk"])
      expect((await of("<b>.*</b>", "U"))[0]).toStartWith("3\t<b>x</b>---")
      const wrong = await find({ path: "a.txt", pattern: "x", flags: "m" })
      expect([wrong.isError, wrong.output.includes("flags")]).toEqual([true, true])
    })

    test("TFILE-15: a pattern sees one line at a time", async () => {
      rig.put("a.txt", "one\r\ntwo\r\n\r\nthree\n")
      const of = async (pattern: string) => hitsOf((await find({ path: "a.txt", pattern })).output)
      expect(await of("^two$")).toEqual(["2\ttwo"])
      expect(await of("^$")).toEqual(["3\t"])
      expect(await of("(?s)one.*two")).toEqual(["No line matches."])
      expect(await of("\\Athree\\z")).toEqual(["4\tthree"])
      expect(await of("one\\ntwo")).toEqual(["No line matches."])
    })

    test("from_line and max_hits choose which lines are told", async () => {
      rig.put("a.txt", numbered(100_000))
      const { output } = await find({
        ...{ path: "a.txt", pattern: "0$", from_line: 50_001, max_hits: 2 },
      })
      expect(headOf(output)).toStartWith(
        "[2 hits in lines 50001-50020 — search on with from_line 50021]",
      )
      expect(hitsOf(output)).toEqual(["50010\tline 50010", "50020\tline 50020"])
      const behind = await find({ path: "a.txt", pattern: "x", from_line: 100_001 })
      expect(behind.output).toContain("The file ends before line 100001.")
    })

    test("TFILE-17: a long line is shown as a window around its match", async () => {
      rig.put("min.js", `${"a".repeat(300_000)}needle${"б".repeat(300_000)}\nshort needle\n`)
      const { output } = await find({ path: "min.js", pattern: "needle" })
      expect(hitsOf(output)).toEqual([
        `1\t…${"a".repeat(100)}needle${"б".repeat(100)}…`,
        "2\tshort needle",
      ])
    })

    test("TFILE-18: a binary file is refused, and find_hex is named", async () => {
      rig.put("a.bin", Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0, 0]))
      const { output, isError } = await find({ path: "a.bin", pattern: "ELF" })
      expect([isError, output.includes("it is not text")]).toEqual([true, true])
      expect(output).toContain("find_hex")
    })

    test("TFILE-20: a list longer than an answer ends on a line and says where to search on", async () => {
      rig.put("a.txt", `${"x".repeat(395)}\n`.repeat(600))
      const { output } = await find({ path: "a.txt", pattern: "x", max_hits: 500 })
      expect(output.length).toBeLessThanOrEqual(16_000)
      const [, count, last, next] =
        /^\[(\d+) hits in lines 1-(\d+) — search on with from_line (\d+)\]/.exec(output)!
      expect([last, next]).toEqual([count!, `${Number(last) + 1}`])
      expect(output).toEndWith(`\n${last}\t${"x".repeat(395)}`)
    })

    test("no hit is an answer, and no event", async () => {
      rig.put("a.txt", "one\ntwo\n")
      const { output, isError, uneventful } = await find({ path: "a.txt", pattern: "three" })
      expect([isError, uneventful]).toEqual([false, true])
      expect(output).toStartWith("[0 hits in lines 1-2]")
    })

    test("a pattern that is none says what is wrong with it", async () => {
      rig.put("a.txt", "one\n")
      for (const pattern of ["(", "a(?=b)", "(a)\\1", "[z-a]"]) {
        const { output, isError } = await find({ path: "a.txt", pattern })
        expect([pattern, isError, output.includes("the pattern is not right")]).toEqual([
          ...[pattern, true, true],
        ])
      }
    })

    test("text in other encodings is searched as what it says", async () => {
      rig.put("cp1251.txt", Buffer.from("cff0e8e2e5f20aecf3f00a", "hex"))
      rig.put("wide.txt", Buffer.from("\ufeffпервая\r\nвторая\r\n", "utf16le"))
      rig.put("marked.txt", "\ufeffпервая\n")
      const first = await find({ path: "cp1251.txt", pattern: "привет", flags: "i" })
      expect(first.output).toContain("(windows-1251, guessed)\n1\tПривет")
      const named = await find({ path: "cp1251.txt", pattern: "^оПХ", encoding: "koi8-r" })
      expect(named.output).toContain("(koi8-r)\n1\tоПХБЕР")
      const wide = await find({ path: "wide.txt", pattern: "^вто.*я$" })
      expect(wide.output).toContain("(utf-16le with BOM)\n2\tвторая")
      expect((await find({ path: "marked.txt", pattern: "^п" })).output).toContain("1\tпервая")
    })

    test("TFILE-34: a missing file is told with its neighbours", async () => {
      rig.put("settings.yaml", "")
      const { output, isError } = await find({ path: "setings.yaml", pattern: "x" })
      expect([isError, output.includes("settings.yaml")]).toEqual([true, true])
    })
  })
}

test("TFILE-16: reading stops with the last hit that was asked for", async () => {
  rig.put("large.txt", `needle\n${numbered(400_000)}`)
  const input = { path: "large.txt", pattern: "needle", max_hits: 1 }
  await rig.call("find_pattern", input, { machine: "client" })
  expect(rig.ops).toEqual([
    expect.objectContaining({ action: "read_bytes", offset: 0, size: 256 * 1024 }),
  ])
})

test("TFILE-19: on the client 32 MiB are looked through, and an answer that ends there says so", async () => {
  const line = `${"x".repeat(1023)}\n`
  const path = rig.put("large.txt", line.repeat(33 * 1024))
  appendFileSync(path, "needle\n")
  const input = { path: "large.txt", pattern: "needle" }
  const here = await rig.call("find_pattern", input)
  expect(hitsOf(here.output)).toEqual(["33793\tneedle"])
  const { output } = await rig.call("find_pattern", input, { machine: "client" })
  expect(headOf(output)).toStartWith("[0 hits in lines 1-32768; only the first 32 MiB]")
  const read = rig.ops.map((op) => (op.action === "read_bytes" ? op.size : 0))
  expect(read.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(32 * MIB)
})

test("TFILE-16: an endless line and a sparse file of 10 GiB are searched without being held", async () => {
  const path = rig.put("endless", `${"lorem ipsum ".repeat(30_000)}needle`)
  truncateSync(path, 10 * 2 ** 30)
  const before = process.memoryUsage.rss()
  const input = { path: "endless", pattern: "need(le|s)", max_hits: 1 }
  const { output } = await rig.call("find_pattern", input)
  expect(hitsOf(output)[0]).toMatch(/^1\t….*ipsum needle/)
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MIB)
})

describe("a line that is matched in parts", () => {
  const find = async (content: string, pattern: string) => {
    rig.put("a.txt", content)
    const { output } = await rig.call("find_pattern", { path: "a.txt", pattern })
    return hitsOf(output).map((hit) => hit.replace(/\t.*/s, ""))
  }
  const PART = 262_144

  test("what lies across two parts is found, once", async () => {
    for (const before of [PART - 3, PART, PART + 3, 2 * PART - 16_384 - 3]) {
      expect(await find(`${"-".repeat(before)}needle${"-".repeat(PART)}\nx\n`, "needle")).toEqual([
        "1",
      ])
    }
  })

  test("the edges of a part are no edges of the line", async () => {
    const parts = `${"ab".repeat(PART)}\nab\n`
    expect(await find(parts, "^b")).toEqual(["No line matches."])
    expect(await find(parts, "a$")).toEqual(["No line matches."])
    expect(await find(parts, "\\bb")).toEqual(["No line matches."])
    expect(await find(parts, "^ab$")).toEqual(["2"])
    expect(await find(parts, "b$")).toEqual(["1", "2"])
    expect(await find(parts, "^(ab)+$")).toEqual(["2"])
  })

  test("the number of the next line is right", async () => {
    expect(await find(`a\n${"b".repeat(3 * PART)}\nneedle`, "needle")).toEqual(["3"])
  })
})

test("a hostile pattern is slow and not endless, and the event loop goes on", async () => {
  rig.put("a.txt", `${"a".repeat(100_000)}\n`)
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  const input = { path: "a.txt", pattern: "(a+a+)+b(.*)(.*)(.*)z" }
  const { output } = await rig.call("find_pattern", input)
  clearInterval(timer)
  expect(output).toContain("No line matches.")
  expect(ticks).toBeGreaterThan(0)
})

test("a cancelled search reads no further", async () => {
  const controller = new AbortController()
  rig.put("large.txt", numbered(400_000))
  const running = rig.call(
    "find_pattern",
    { path: "large.txt", pattern: "needle" },
    { machine: "client", signal: controller.signal },
  )
  controller.abort()
  const { isError } = await running
  expect(isError).toBe(true)
  expect(rig.ops.length).toBeLessThan(3)
})

test("S-10: 50 hits are told unless more are asked for, 500 at most", async () => {
  rig.put("a.txt", numbered(1000))
  const hits = async (input: object) => {
    const { output } = await rig.call("find_pattern", { path: "a.txt", pattern: "line", ...input })
    return hitsOf(output).length
  }
  expect(await hits({})).toBe(50)
  expect(await hits({ max_hits: 500 })).toBe(500)
  const { isError } = await rig.call("find_pattern", {
    ...{ path: "a.txt", pattern: "line", max_hits: 501 },
  })
  expect(isError).toBe(true)
})
