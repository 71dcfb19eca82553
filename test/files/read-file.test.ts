/** `read_file`: windows, headings, encodings, and what is no text file. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, symlinkSync, truncateSync } from "node:fs"
import { homedir } from "node:os"
import { clientHands } from "../../src/files/client-hands.ts"
import { type FileRig, fileRig, MACHINES, numbered } from "./file-rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let rig: FileRig
beforeEach(() => {
  rig = fileRig()
})
afterEach(() => rig.close())

const headOf = (output: string): string => output.split("\n", 1)[0]!

for (const machine of MACHINES) {
  describe(`on ${machine}`, () => {
    test("TFILE-1 TFILE-21: lines are numbered under a head that says where they stand and on which machine", async () => {
      const path = rig.put("a.txt", "one\ntwo\n\nfour\n")
      const { output, isError } = await rig.call("read_file", { path: "a.txt" }, { machine })
      expect([output, isError]).toEqual([
        `[lines 1-4 of 4] ${machine}:${path}\n1\tone\n2\ttwo\n3\t\n4\tfour`,
        false,
      ])
    })

    test("TFILE-1: offset and limit choose a window", async () => {
      const path = rig.put("a.txt", numbered(500))
      const input = { path: "a.txt", offset: 200, limit: 2 }
      const { output } = await rig.call("read_file", input, { machine })
      expect(output).toBe(`[lines 200-201 of 500] ${machine}:${path}\n200\tline 200\n201\tline 201`)
    })

    test("TFILE-2 TFILE-3: an answer that is full ends with a line, and its head says where to read on", async () => {
      rig.put("a.txt", numbered(5000))
      const first = await rig.call("read_file", { path: "a.txt", limit: 5000 }, { machine })
      const [, last = "", next] =
        /^\[lines 1-(\d+) of 5000 — read on with offset (\d+)\]/.exec(first.output) ?? []
      expect(first.output.length).toBeLessThanOrEqual(16_000)
      expect(first.output.length).toBeGreaterThan(15_000)
      expect(first.output.endsWith(`\n${last}\tline ${last}`)).toBe(true)
      const second = await rig.call(
        "read_file",
        { path: "a.txt", offset: Number(next) },
        { machine },
      )
      expect(second.output).toContain(`\n${next}\tline ${next}\n`)
    })

    test("TFILE-1: a large file is read in the middle, the last line without its end", async () => {
      const lines = `${"x".repeat(90)}\n`.repeat(9999)
      rig.put("large.txt", `${lines}the end`)
      const input = { path: "large.txt", offset: 9999, limit: 5 }
      const { output } = await rig.call("read_file", input, { machine })
      expect(output.split("\n").slice(1)).toEqual([`9999\t${"x".repeat(90)}`, "10000\tthe end"])
      expect(headOf(output)).toStartWith("[lines 9999-10000 of 10000]")
    })

    test("TFILE-4: a binary file is refused, and the answer says how its bytes can be seen", async () => {
      rig.put("a.bin", Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0, 0]))
      const { output, isError } = await rig.call("read_file", { path: "a.bin" }, { machine })
      expect(isError).toBe(true)
      expect(output).toContain("it is not text")
      expect(output).toContain("read_hex shows its bytes")
    })

    test("TFILE-5 TOOL-31: several files are sections, and one that fails is a line of its own", async () => {
      rig.put("a.txt", "one\n")
      rig.put("b.txt", "two\n")
      const path = ["a.txt", "gone.txt", "b.txt"]
      const { output, isError } = await rig.call("read_file", { path }, { machine })
      expect(isError).toBe(false)
      expect(output).toContain("== a.txt\n[lines 1-1 of 1]")
      expect(output).toMatch(/\n\n== gone\.txt\nfailed: /)
      expect(output).toMatch(/\n\n== b\.txt\n\[lines 1-1 of 1\][^\n]*\n1\ttwo$/)
    })

    test("TFILE-34: a missing file names what stands in its folder", async () => {
      rig.put("settings.yaml", "")
      const { output, isError } = await rig.call("read_file", { path: "setings.yaml" }, { machine })
      expect(isError).toBe(true)
      expect(output).toContain("no")
      expect(output).toContain("settings.yaml")
    })

    test("text that is no UTF-8 is read, and its encoding told", async () => {
      rig.put(
        "a.txt",
        Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xec, 0xe8, 0xf0, 0x0d, 0x0a]),
      )
      const { output } = await rig.call("read_file", { path: "a.txt" }, { machine })
      expect(output).toContain("(windows-1251, guessed, lines end with CRLF)\n1\tПривет, мир")
    })

    test("a file of another encoding is read as it is named", async () => {
      rig.put("a.txt", Buffer.from([0x8f, 0xe0, 0xa8, 0xa2, 0xa5, 0xe2, 0x0a]))
      const input = { path: "a.txt", encoding: "cp866" }
      expect((await rig.call("read_file", input, { machine })).output).toContain("1\tПривет")
      const wrong = await rig.call("read_file", { path: "a.txt", encoding: "klingon" }, { machine })
      expect([wrong.isError, wrong.output.includes("no encoding klingon")]).toEqual([true, true])
    })

    test("UTF-16 is read with and without its mark", async () => {
      rig.put("marked.txt", Buffer.from("\ufeffпервая\nsecond\n", "utf16le"))
      rig.put("bare.txt", Buffer.from("first\nsecond\n", "utf16le"))
      const path = ["marked.txt", "bare.txt"]
      const { output } = await rig.call("read_file", { path }, { machine })
      expect(output).toContain("(utf-16le with BOM)\n1\tпервая\n2\tsecond")
      expect(output).toContain("(utf-16le, guessed)\n1\tfirst\n2\tsecond")
    })

    test("an empty file and an offset behind the end are told as what they are", async () => {
      rig.put("empty.txt", "")
      rig.put("short.txt", "one\n")
      const empty = await rig.call("read_file", { path: "empty.txt" }, { machine })
      expect(empty.output).toEndWith("\nThe file is empty.")
      const behind = await rig.call("read_file", { path: "short.txt", offset: 9 }, { machine })
      expect(behind.output).toContain("[lines 0-0 of 1]")
      expect(behind.output).toEndWith("\nThe file ends before line 9.")
    })

    test("a line longer than an answer is cut, and says so", async () => {
      rig.put("min.js", `${"я".repeat(600_000)}\nnext\n`)
      const { output } = await rig.call("read_file", { path: "min.js" }, { machine })
      expect(headOf(output)).toStartWith("[lines 1-1 of 2 — read on with offset 2]")
      expect(output.length).toBeLessThan(16_200)
      expect(output).toContain("line 1 is longer than an answer")
      expect(output).not.toContain("\ufffd")
    })
  })
}

for (const machine of ["server", "host"] as const) {
  describe(`what is no regular file, on ${machine}`, () => {
    test("pipes and devices are refused at once", async () => {
      execFileSync("mkfifo", [rig.at("pipe")])
      for (const path of ["pipe", "/dev/zero"]) {
        const { output, isError } = await rig.call("read_file", { path }, { machine })
        expect([isError, output.includes("not a regular file")]).toEqual([true, true])
      }
    })

    test("a folder is refused with what it holds", async () => {
      mkdirSync(rig.at("src"))
      rig.put("src/main.ts", "")
      const { output, isError } = await rig.call("read_file", { path: "src" }, { machine })
      expect([isError, output.includes("it is a folder, which holds main.ts")]).toEqual([
        true,
        true,
      ])
    })

    test("a near name is offered", async () => {
      rig.put("settings.yaml", "")
      const { output } = await rig.call("read_file", { path: "setings.yaml" }, { machine })
      expect(output).toContain(`Did you mean ${rig.at("settings.yaml")}?`)
    })

    test("a link is followed", async () => {
      rig.put("real.txt", "here\n")
      symlinkSync(rig.at("real.txt"), rig.at("link.txt"))
      const { output } = await rig.call("read_file", { path: "link.txt" }, { machine })
      expect(output).toContain("1\there")
    })
  })
}

test.skipIf(process.getuid?.() === 0)("a file that may not be read says so", async () => {
  chmodSync(rig.put("secret.txt", "x"), 0)
  const { output } = await rig.call("read_file", { path: "secret.txt" })
  expect(output).toContain("does not let the kernel read it")
})

test.skipIf(process.platform !== "linux")(
  "files of /proc that call themselves empty are read",
  async () => {
    const { output } = await rig.call("read_file", { path: "/proc/self/status" })
    expect(output).toContain("1\tName:")
  },
)

test("TFILE-35: a leading ~ is the home of the machine that reads", async () => {
  const here = await rig.call("read_file", { path: "~/no-such-file-here" })
  expect(here.output).toContain(`${homedir()}/no-such-file-here`)
  // The host's home is the rig's folder.
  rig.put("a.txt", "at home\n")
  const there = await rig.call("read_file", { path: "~/a.txt" }, { machine: "host" })
  expect(there.output).toContain("1\tat home")
})

test("S-9: without a limit 2000 lines are shown at most", async () => {
  rig.put("a.txt", "x\n".repeat(2500))
  const { output } = await rig.call("read_file", { path: "a.txt" })
  expect(headOf(output)).toStartWith("[lines 1-2000 of 2500 — read on with offset 2001]")
})

test("C-2: the tool itself stops at what stays of a reader's answer in a prompt", async () => {
  const narrow = fileRig({ readerChars: 2000 })
  try {
    narrow.put("a.txt", numbered(500))
    const { output } = await narrow.call("read_file", { path: "a.txt" })
    const [, last, next] = /^\[lines 1-(\d+) of 500 — read on with offset (\d+)\]/.exec(output)!
    expect(output.length).toBeLessThanOrEqual(2000)
    expect(Number(next)).toBe(Number(last) + 1)
    expect(output).toEndWith(`\tline ${last}`)
  } finally {
    narrow.close()
  }
})

test("a sparse file of 10 GiB: the middle of its text is found, the hole is no text", async () => {
  rig.put("sparse", numbered(100))
  truncateSync(rig.at("sparse"), 10 * 2 ** 30)
  const { output } = await rig.call("read_file", { path: "sparse", offset: 50, limit: 1 })
  expect(output).toContain("it is not text")
})

test("S-12: what a client is asked about its files is waited for 300 seconds", async () => {
  const limits: number[] = []
  const hands = clientHands(
    {
      clientOp: async (_op, { timeoutMs }) => {
        limits.push(timeoutMs)
        return JSON.stringify({ total: 2, data: "b2s=" })
      },
    },
    "/home/ada",
  )
  await hands.read("a", { offset: 0, size: 2 })
  await hands.whole.write("a", Buffer.from("ok"))
  expect(limits).toEqual([300_000, 300_000])
})
