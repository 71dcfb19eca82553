/** `write_file`: whole files at one stroke, several in order, and none that the agent does not know. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from "node:fs"
import { type FileRig, fileRig, MACHINES } from "./file-rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let rig: FileRig
beforeEach(() => {
  rig = fileRig()
})
afterEach(() => rig.close())

for (const machine of MACHINES) {
  describe(`on ${machine}`, () => {
    const write = (input: Record<string, unknown>, more = {}) =>
      rig.call("write_file", input, { machine, ...more })
    const read = (path: string) => rig.call("read_file", { path }, { machine })

    test("TFILE-6 TFILE-21: a new file is written with the folders above it, and the machine is named", async () => {
      const { output, isError } = await write({ path: "a/b/c.txt", content: "one\ntwo\n" })
      expect([output, isError]).toEqual([`Done on ${machine}:\nA a/b/c.txt (2 lines)`, false])
      expect(rig.text("a/b/c.txt")).toBe("one\ntwo\n")
      expect(readdirSync(rig.at("a/b"))).toEqual(["c.txt"])
      expect(rig.kept).toEqual([
        {
          ...{ chatId: "chat-1", writerId: "turn-1", machine, path: rig.at("a/b/c.txt") },
          ...{ former: undefined, next: Buffer.from("one\ntwo\n") },
        },
      ])
    })

    test("TFILE-6: the text is written byte for byte", async () => {
      const content = 'plain "q" curly “q” «ё»\r\n\ttab \u00a0 end without a line feed'
      await write({ path: "a.txt", content })
      expect(rig.text("a.txt")).toBe(content)
    })

    test("a file that was read is replaced, and keeps its permissions", async () => {
      rig.put("run.sh", "#!/bin/sh\n")
      chmodSync(rig.at("run.sh"), 0o751)
      await read("run.sh")
      const { output } = await write({ path: "run.sh", content: "#!/bin/sh\nexit 1\n" })
      expect(output).toBe(`Done on ${machine}:\nM run.sh (2 lines)`)
      expect([rig.text("run.sh"), statSync(rig.at("run.sh")).mode & 0o777]).toEqual([
        "#!/bin/sh\nexit 1\n",
        0o751,
      ])
      expect(rig.kept.map(({ former }) => former?.toString())).toEqual(["#!/bin/sh\n"])
    })

    test("line ends, byte order mark and encoding of a file stay", async () => {
      rig.put("a.txt", "\ufeffone\r\ntwo\r\n")
      rig.put("b.txt", Buffer.from("\ufeffодин\n", "utf16le"))
      rig.put(
        "c.txt",
        Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xec, 0xe8, 0xf0]),
      )
      await rig.call("read_file", { path: ["a.txt", "b.txt", "c.txt"] }, { machine })
      const files = [
        { path: "a.txt", content: "1\n2\n3\n" },
        { path: "b.txt", content: "два\n" },
        { path: "c.txt", content: "мир" },
      ]
      const { output } = await write({ files })
      expect(output).toBe(
        [
          `Done on ${machine}:`,
          "M a.txt (3 lines, utf-8 with BOM, CRLF as before)",
          "M b.txt (1 line, utf-16le with BOM)",
          "M c.txt (1 line, windows-1251)",
        ].join("\n"),
      )
      expect(rig.text("a.txt")).toBe("\ufeff1\r\n2\r\n3\r\n")
      expect(rig.bytes("b.txt")).toEqual(Buffer.from("\ufeffдва\n", "utf16le"))
      expect(rig.bytes("c.txt")).toEqual(Buffer.from([0xec, 0xe8, 0xf0]))
    })

    test("a character that the encoding lacks is refused, and another encoding may be named", async () => {
      const former = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xec, 0xe8, 0xf0])
      rig.put("a.txt", former)
      await read("a.txt")
      const refused = await write({ path: "a.txt", content: "мир ☮" })
      expect([refused.isError, rig.bytes("a.txt")]).toEqual([true, former])
      expect(refused.output).toContain("windows-1251 has no character ☮ (U+262E)")
      await write({ path: "a.txt", content: "мир ☮", encoding: "utf-8" })
      expect(rig.text("a.txt")).toBe("мир ☮")
      await write({ path: "new.txt", content: "мир", encoding: "koi8-r" })
      expect(rig.bytes("new.txt")).toEqual(Buffer.from([0xcd, 0xc9, 0xd2]))
    })

    test("a file that was never read here is not replaced, and the answer says to read it", async () => {
      rig.put("a.txt", "precious\n")
      const refused = await write({ path: "a.txt", content: "new\n" })
      expect(refused).toMatchObject({ isError: true })
      expect(refused.output).toBe(
        `${machine}:${rig.at("a.txt")}: it is there already and was not read in this chat; read it first`,
      )
      expect([rig.text("a.txt"), rig.kept]).toEqual(["precious\n", []])
      await read("a.txt")
      expect(await write({ path: "a.txt", content: "new\n" })).toMatchObject({ isError: false })
    })

    test("a file that changed since it was read is not replaced before it is read again", async () => {
      rig.put("a.txt", "one\n")
      await read("a.txt")
      rig.put("a.txt", "somebody else's\n")
      const refused = await write({ path: "a.txt", content: "new\n" })
      expect(refused.output).toContain("it was changed since it was read; read it again")
      expect(rig.text("a.txt")).toBe("somebody else's\n")
      await read("a.txt")
      await write({ path: "a.txt", content: "new\n" })
      expect(rig.text("a.txt")).toBe("new\n")
    })

    test("what the agent wrote itself it knows, and an empty file holds nothing to lose", async () => {
      rig.put("empty.txt", "")
      for (const content of ["1\n", "2\n"]) {
        for (const path of ["made.txt", "empty.txt"]) {
          expect(await write({ path, content })).toMatchObject({ isError: false })
        }
      }
      expect([rig.text("made.txt"), rig.text("empty.txt")]).toEqual(["2\n", "2\n"])
    })

    test("a file that holds this already is left alone, read or not", async () => {
      rig.put("a.txt", "same\n")
      const { output } = await write({ path: "a.txt", content: "same\n" })
      expect([output, rig.kept]).toEqual([
        `Done on ${machine}:\n= a.txt (it held this already)`,
        [],
      ])
    })

    test("TFILE-36: several are written in order up to the first refusal, and the rest is told", async () => {
      rig.put("there.txt", "unread\n")
      const files = ["a.txt", "there.txt", "c.txt", "d.txt"].map((path) => ({ path, content: "x" }))
      const { output, isError } = await write({ files })
      expect(isError).toBe(true)
      expect(output.split("\n")).toEqual([
        `Failed: ${machine}:${rig.at("there.txt")}: it is there already and was not read in this chat; read it first`,
        "Landed:",
        "A a.txt (1 line)",
        "Not tried: c.txt, d.txt",
      ])
      expect(readdirSync(rig.folder).sort()).toEqual(["a.txt", "there.txt"])
    })

    test("a symbolic link stays one: its target is written", async () => {
      rig.put("target.txt", "old\n")
      symlinkSync("target.txt", rig.at("link.txt"))
      await read("link.txt")
      await write({ path: "link.txt", content: "new\n" })
      expect([readlinkSync(rig.at("link.txt")), rig.text("target.txt")]).toEqual([
        "target.txt",
        "new\n",
      ])
    })

    test("a link that leads nowhere is refused: neither it nor what it names is made", async () => {
      symlinkSync(rig.at("elsewhere/new.txt"), rig.at("link.txt"))
      const { output, isError } = await write({ path: "link.txt", content: "x" })
      expect([isError, output.includes("a symbolic link to a file that is not there")]).toEqual([
        true,
        true,
      ])
      expect(lstatSync(rig.at("link.txt")).isSymbolicLink()).toBe(true)
      expect(existsSync(rig.at("elsewhere"))).toBe(false)
    })

    test("a folder, a binary file and a path out of the working directory are refused", async () => {
      await write({ path: "sub/a.txt", content: "x" })
      rig.put("a.bin", Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0, 0]))
      for (const [path, words] of [
        ["sub", "folder"],
        ["a.bin", "what stands there is no text"],
        ["../out.txt", "it leaves the working directory; give an absolute path if that is meant"],
      ] as const) {
        const { output, isError } = await write({ path, content: "x" })
        expect([isError, output.includes(words) || output]).toEqual([true, true])
      }
      expect(existsSync(rig.at("../out.txt"))).toBe(false)
    })

    test("a cancelled call writes nothing more, and says so", async () => {
      const files = ["a.txt", "b.txt"].map((path) => ({ path, content: "x" }))
      const cancel = new AbortController()
      const { output } = await write(
        { files },
        { signal: cancel.signal, onKept: () => cancel.abort() },
      )
      expect(output).toContain("the turn was cancelled")
      expect(output).toEndWith("Not tried: b.txt")
      // What was begun is there as a whole, or not at all.
      expect([[], ["a.txt"]]).toContainEqual(readdirSync(rig.folder))
    })
  })
}

describe("the machine", () => {
  test("TFILE-35: a leading ~ is the home of the machine where the call acts", async () => {
    await rig.call("write_file", { path: "~/a.txt", content: "x" }, { machine: "host" })
    expect(rig.text("a.txt")).toBe("x")
  })

  test("TFILE-22: the client's is for trusted turns of a client with operations", async () => {
    const input = { path: "a.txt", content: "x" }
    const call = (identity: object) =>
      rig.call("write_file", input, { machine: "client", on: "client", identity })
    expect((await call({ trusted: false })).output).toContain("only a trusted turn")
    expect((await call({ clientOps: false })).output).toContain("offers no operations")
    expect((await call({ master: false })).isError).toBe(true)
    expect([rig.ops, readdirSync(rig.folder)]).toEqual([[], []])
  })

  test("is the client's where nothing says otherwise and operations are offered, else the server's", async () => {
    const call = (path: string, clientOps: boolean) =>
      rig.call(
        "write_file",
        { path: rig.at(path), content: "x" },
        {
          workdir: undefined,
          identity: { clientOps },
        },
      )
    expect((await call("a", true)).output).toStartWith("Done on client:")
    expect((await call("b", false)).output).toStartWith("Done on server:")
  })
})

test("SURF-010 SEC-16: the file tools do not exist in a public chat, and an untrusted turn of the master keeps them", async () => {
  for (const tool of ["read_file", "write_file", "write_diff"]) {
    const refused = await rig.call(tool, {}, { identity: { public: true } })
    expect(refused.isError).toBe(true)
    const kept = await rig.call(tool, { path: "x" }, { identity: { trusted: false } })
    expect(kept.output).not.toBe(refused.output)
  }
  const input = { path: "a.txt", content: "x" }
  const identity = { trusted: false, clientOps: false }
  const { output } = await rig.call("write_file", input, { identity })
  expect(output).toStartWith("Done on server:")
})

test("write_file takes one form or the other", async () => {
  for (const input of [
    {},
    { path: "a" },
    { content: "x" },
    { path: "a", content: "x", files: [] },
  ]) {
    const { isError } = await rig.call("write_file", input)
    expect(isError).toBe(true)
  }
  expect(readdirSync(rig.folder)).toEqual([])
})
