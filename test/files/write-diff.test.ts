/** `write_diff`: one place, found by its text, and every other byte as it was. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, statSync } from "node:fs"
import { type FileRig, fileRig, MACHINES, numbered } from "./file-rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let rig: FileRig
beforeEach(() => {
  rig = fileRig()
})
afterEach(() => rig.close())

for (const machine of MACHINES) {
  describe(`on ${machine}`, () => {
    const diff = (path: string, old_text: string, new_text: string) =>
      rig.call("write_diff", { path, old_text, new_text }, { machine })

    test("TFILE-7 TFILE-21: one place is replaced, and its surroundings are shown with numbers", async () => {
      const path = rig.put("a.txt", numbered(10))
      chmodSync(path, 0o640)
      const { output, isError } = await diff("a.txt", "line 5\n", "5a\n5b\n")
      expect(isError).toBe(false)
      expect(output).toBe(
        [
          `[lines 2-9 of 11] ${machine}:${path}`,
          ...["2\tline 2", "3\tline 3", "4\tline 4", "5\t5a", "6\t5b"],
          ...["7\tline 6", "8\tline 7", "9\tline 8"],
        ].join("\n"),
      )
      expect(rig.text("a.txt")).toBe(numbered(10).replace("line 5\n", "5a\n5b\n"))
      expect(statSync(path).mode & 0o777).toBe(0o640)
      expect(rig.kept.map(({ former }) => former?.toString())).toEqual([numbered(10)])
    })

    test("every other byte stays: marks, ends of lines, a last line without its end", async () => {
      rig.put("a.txt", "\ufeffone\r\ntwo\r\nthree")
      const { output } = await diff("a.txt", "one\ntwo", "one\n2a\n2b")
      expect(rig.text("a.txt")).toBe("\ufeffone\r\n2a\r\n2b\r\nthree")
      expect(output).toEndWith("\n1\tone\n2\t2a\n3\t2b\n4\tthree")
    })

    test("a file in another encoding keeps it, and lacks what it lacks", async () => {
      rig.put(
        "a.txt",
        Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xec, 0xe8, 0xf0]),
      )
      await diff("a.txt", "мир", "дом")
      expect(rig.bytes("a.txt").subarray(-3)).toEqual(Buffer.from([0xe4, 0xee, 0xec]))
      expect((await diff("a.txt", "дом", "☮")).output).toContain("has no character ☮")
    })

    test("a text that is not there is told with the nearest place and the difference made visible", async () => {
      const path = rig.put("a.py", "def one():\n\treturn 1\n\ndef two():\n\treturn 2\n")
      const { output, isError } = await diff("a.py", "def two():\n    return 2\n", "x")
      expect(isError).toBe(true)
      expect(output).toBe(
        [
          `${machine}:${path}: old_text does not stand there. The nearest place:`,
          "4\tdef two():",
          "5\t\treturn 2",
          'The first difference, with white space made visible: old_text has "    return 2", the file "\\treturn 2".',
        ].join("\n"),
      )
    })

    test("a text that stands there more than once is refused with its lines", async () => {
      rig.put("a.txt", "x\na\nx\nb\nx\n")
      const { output, isError } = await diff("a.txt", "x\n", "y\n")
      expect(isError).toBe(true)
      expect(output).toContain(
        "stands there 3 times, in lines 1, 3, 5; quote more of what is around",
      )
      expect(rig.text("a.txt")).toBe("x\na\nx\nb\nx\n")
    })

    test("TFILE-34: a missing file names what stands in its folder", async () => {
      rig.put("settings.yaml", "")
      const { output, isError } = await diff("setings.yaml", "a", "b")
      expect([isError, output.includes("settings.yaml")]).toEqual([true, true])
    })

    test("an edit of what was known leaves it known; an edit by quotation alone does not make it so", async () => {
      rig.put("known.txt", "one\ntwo\n")
      rig.put("quoted.txt", "one\ntwo\n")
      await rig.call("read_file", { path: "known.txt" }, { machine })
      for (const path of ["known.txt", "quoted.txt"]) await diff(path, "one", "1")
      const overwrite = (path: string) =>
        rig.call("write_file", { path, content: "new\n" }, { machine })
      expect(await overwrite("known.txt")).toMatchObject({ isError: false })
      expect((await overwrite("quoted.txt")).output).toContain("was not read in this chat")
    })
  })
}

describe("the place", () => {
  const diff = async (text: string, old_text: string, new_text: string) => {
    rig.put("a.txt", text)
    const { output } = await rig.call("write_diff", { path: "a.txt", old_text, new_text })
    return { output, text: rig.text("a.txt") }
  }

  test("is found with typography written plainly when it is the only one, and said so", async () => {
    const { output, text } = await diff(
      "говорит: «да» — и всё\n",
      'говорит: "да" - и всё',
      'говорит: "да" - и ничего',
    )
    expect(text).toBe("говорит: «да» — и ничего\n")
    expect(output).toContain("written plainly)")
    const twice = await diff("«да»\n“да”\n", '"да"', "нет")
    expect(twice.text).toBe("«да»\n“да”\n")
    expect(twice.output).toContain("2 times, in lines 1, 2")
  })

  test("keeps the ends of lines of both kinds where they stood", async () => {
    const { text } = await diff("a\r\nb\nc\r\nd\r\n", "a\nb\nc\nd", "a\nb\nC\nd")
    expect(text).toBe("a\r\nb\nC\r\nd\r\n")
  })

  test("may be quoted with other ends of lines than the file has", async () => {
    const { text } = await diff("one\ntwo\n", "one\r\ntwo\r\n", "one\r\n2\r\n")
    expect(text).toBe("one\n2\n")
  })

  test("is replaced as it is said, whatever its letters mean elsewhere", async () => {
    const { text } = await diff("price: X\n", "X", "$& $1 \\n “”")
    expect(text).toBe("price: $& $1 \\n “”\n")
  })

  test("may go without a trace, or grow far: a long change shows its beginning and its end", async () => {
    expect((await diff("one\ntwo\nthree\n", "two\n", "")).text).toBe("one\nthree\n")
    const { output } = await diff("before\nX\nafter\n", "X\n", numbered(100))
    const lines = output.split("\n")
    expect(lines.length).toBe(1 + 13 + 1 + 13)
    expect([lines[1], lines[14], lines.at(-1)]).toEqual(["1\tbefore", "…", "102\tafter"])
  })

  test("of nothing like it says so, and texts that are the same are refused", async () => {
    expect((await diff("one\n", "completely different words", "x")).output).toContain(
      "Nothing in the file resembles it",
    )
    expect((await diff("one\n", "one", "one")).output).toBe("old_text and new_text are the same")
  })
})
