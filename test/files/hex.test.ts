/** `read_hex`, `write_hex` and `find_hex`: bytes of files on the three machines. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdirSync, statSync, truncateSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { bytesOfHex, dumpRows } from "../../src/files/hex.ts"
import { type FileRig, fileRig, MACHINES } from "./file-rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let rig: FileRig
beforeEach(() => {
  rig = fileRig()
})
afterEach(() => rig.close())

const BYTES = Uint8Array.from({ length: 256 }, (_, at) => at)

for (const machine of MACHINES) {
  describe(`on ${machine}`, () => {
    const call = (tool: string, input: Record<string, unknown>) =>
      rig.call(tool, input, { machine })

    test("THEX-1: a dump has offsets, bytes and a text column under a head with its place", async () => {
      const path = rig.put("a.bin", BYTES)
      const { output } = await call("read_hex", { path: "a.bin", offset: 60, size: 20 })
      expect(output).toBe(
        [
          `[bytes 60-79 of 256 — read on with offset 80] ${machine}:${path}`,
          "0000003c  3c 3d 3e 3f 40 41 42 43  44 45 46 47 48 49 4a 4b  |<=>?@ABCDEFGHIJK|",
          "0000004c  4c 4d 4e 4f                                       |LMNO|",
        ].join("\n"),
      )
      const all = await call("read_hex", { path: "a.bin" })
      expect(all.output).toStartWith(`[bytes 0-255 of 256] ${machine}:${path}\n`)
      expect(all.output).toEndWith("|................|")
    })

    test("an offset behind the end is told with the size there is", async () => {
      rig.put("a.bin", BYTES)
      const { output } = await call("read_hex", { path: "a.bin", offset: 999 })
      expect(output).toStartWith("[no bytes of 256]")
      expect(output).toEndWith("The file ends before byte 999.")
    })

    test("THEX-2: the text column is ASCII, or what an encoding makes of the bytes", async () => {
      const shiftJis = Buffer.from("8365835883670d0a2041837d838a8349", "hex")
      rig.put("game.dat", shiftJis)
      rig.put("wide.dat", Buffer.from("Héllo wörld", "utf16le"))
      const column = async (path: string, encoding?: string) => {
        const { output } = await call("read_hex", { path, ...(encoding && { encoding }) })
        return [...output.matchAll(/\|(.*)\|$/gm)].map(([, text]) => text).join("")
      }
      expect(await column("game.dat")).toBe(".e.X.g.. A.}...I")
      expect(await column("game.dat", "cp932")).toBe("テスト.. Aマリオ")
      expect(await column("wide.dat", "utf-16le")).toBe("Héllo wörld")
      const wrong = await call("read_hex", { path: "game.dat", encoding: "klingon" })
      expect([wrong.isError, wrong.output.includes("no encoding klingon")]).toEqual([true, true])
    })

    test("THEX-3: one call shows 8 KB of data at most", async () => {
      rig.put("a.bin", new Uint8Array(20_000))
      const { isError, output } = await call("read_hex", { path: "a.bin", size: 8193 })
      expect([isError, output.includes("8192")]).toEqual([true, true])
    })

    test("C-3: a dump that is cut says which byte it really ends with", async () => {
      rig.put("a.bin", new Uint8Array(20_000))
      const { output } = await call("read_hex", { path: "a.bin", size: 8192 })
      const [, last, next] =
        /^\[bytes 0-(\d+) of 20000 — read on with offset (\d+)\]/.exec(output) ?? []
      expect(output.length).toBeLessThanOrEqual(16_000)
      expect(Number(next)).toBe(Number(last) + 1)
      expect((output.split("\n").length - 1) * 16).toBe(Number(next))
    })

    test("TFILE-5: several files are sections, and one that fails is a line of its own", async () => {
      rig.put("a.bin", "needle")
      rig.put("b.bin", "a needle")
      const path = ["a.bin", "gone.bin", "b.bin"]
      const read = await call("read_hex", { path })
      expect(read.isError).toBe(false)
      expect(read.output).toContain("== a.bin\n[bytes 0-5 of 6]")
      expect(read.output).toMatch(/\n\n== gone\.bin\nfailed: /)
      expect(read.output).toMatch(/\n\n== b\.bin\n\[bytes 0-7 of 8\][^\n]*\n0{8} {2}61 20 6e/)
      const found = await call("find_hex", { path, text: "needle" })
      expect(found.output).toContain("== a.bin\n[1 hit in bytes 0-5 of 6]")
      expect(found.output).toMatch(/\n\n== gone\.bin\nfailed: /)
      expect(found.output).toEndWith("\n2\t0x2")
    })

    test("THEX-4: bytes are written over others, or with truncate in place of all behind them", async () => {
      const path = rig.put("a.bin", BYTES)
      const over = await call("write_hex", { path: "a.bin", offset: 16, data: "ff fe 0xfd" })
      expect(over.output).toBe(`wrote 3 bytes at 16 of ${machine}:${path}, which has 256 now`)
      const expected = Buffer.from(BYTES)
      expected.set([0xff, 0xfe, 0xfd], 16)
      expect(rig.bytes("a.bin")).toEqual(expected)
      await call("write_hex", { path: "a.bin", offset: 32, data: "00ff", truncate: true })
      expect(rig.bytes("a.bin")).toEqual(
        Buffer.concat([expected.subarray(0, 32), Buffer.from([0, 0xff])]),
      )
      await call("write_hex", { path: "a.bin", offset: 0, data: "80 81", truncate: true })
      expect(rig.bytes("a.bin")).toEqual(Buffer.from([0x80, 0x81]))
      await call("write_hex", { path: "a.bin", offset: 1, data: "", truncate: true })
      expect(rig.bytes("a.bin")).toEqual(Buffer.from([0x80]))
    })

    test("THEX-4: a new file begins at offset 0, and what is added begins at the end", async () => {
      await call("write_hex", { path: "new.bin", offset: 0, data: "80" })
      await call("write_hex", { path: "new.bin", offset: 1, data: "ff" })
      expect(rig.bytes("new.bin")).toEqual(Buffer.from([0x80, 0xff]))
    })

    test("THEX-4: several writes go in order and stop at the first that is refused", async () => {
      rig.put("a.bin", BYTES)
      const writes = [
        { path: "a.bin", offset: 0, data: "ff" },
        { path: "b.bin", offset: 0, data: "80" },
      ]
      const both = await call("write_hex", { writes })
      expect([both.isError, both.output.split("\n").length]).toEqual([false, 2])
      const bad = { path: "a.bin", offset: 999, data: "00" }
      const stopped = await call("write_hex", { writes: [writes[0], bad, writes[1]] })
      expect(stopped.isError).toBe(true)
      expect(stopped.output).toMatch(
        /Failed: .*leave a hole[^\n]*\nLanded:\nwrote 1 byte at 0 of [^\n]*\nNot tried: b\.bin at 0$/,
      )
    })

    test("THEX-5: writing behind the end is refused, and nothing changes", async () => {
      rig.put("a.bin", BYTES)
      const { isError, output } = await call("write_hex", {
        ...{ path: "a.bin", offset: 257, data: "00" },
      })
      expect([isError, output.includes("has 256 bytes")]).toEqual([true, true])
      expect(rig.bytes("a.bin")).toEqual(Buffer.from(BYTES))
      const fresh = await call("write_hex", { path: "none.bin", offset: 1, data: "00" })
      expect([fresh.isError, existsSync(rig.at("none.bin"))]).toEqual([true, false])
    })

    test("every write is kept for an undo before it happens", async () => {
      const path = rig.put("a.bin", BYTES)
      await call("write_hex", { path: "a.bin", offset: 0, data: "ff" })
      await call("write_hex", { path: "new.bin", offset: 0, data: "ff" })
      expect(rig.kept).toEqual([
        expect.objectContaining({ machine, path, former: Buffer.from(BYTES) }),
        expect.objectContaining({ path: rig.at("new.bin"), former: undefined }),
      ])
    })

    test("THEX-6: a pattern as hex or as text is found at its offsets", async () => {
      const path = rig.put("a.bin", Buffer.from("xxneedlexxneedle", "latin1"))
      const hex = await call("find_hex", { path: "a.bin", hex: "6e 65 65 64" })
      expect(hex.output).toBe(`[2 hits in bytes 0-15 of 16] ${machine}:${path}\n2\t0x2\n10\t0xa`)
      const text = await call("find_hex", { path: "a.bin", text: "needle", offset: 3 })
      expect(text.output).toBe(`[1 hit in bytes 3-15 of 16] ${machine}:${path}\n10\t0xa`)
      const first = await call("find_hex", { path: "a.bin", text: "needle", max_hits: 1 })
      expect(first.output).toContain("[1 hit in bytes 0-2 of 16 — search on with offset 3]")
      const none = await call("find_hex", { path: "a.bin", text: "nothing" })
      expect([none.isError, none.uneventful]).toEqual([false, true])
    })

    test("THEX-7: text is written in the encoding that was named, or refused", async () => {
      rig.put("wide.bin", Buffer.concat([Buffer.from([1]), Buffer.from("Привет", "utf16le")]))
      rig.put("jp.bin", Buffer.from("8365835883670a", "hex"))
      const find = (input: object) => call("find_hex", { path: "wide.bin", ...input })
      expect((await find({ text: "вет", encoding: "utf-16le" })).output).toEndWith("\n7\t0x7")
      // The other byte order stands there too, one byte before.
      expect((await find({ text: "вет", encoding: "utf-16be" })).output).toEndWith("\n6\t0x6")
      const shiftJis = { path: "jp.bin", text: "スト", encoding: "cp932" }
      expect((await find(shiftJis)).output).toEndWith("\n2\t0x2")
      const lacking = await find({ text: "テスト", encoding: "windows-1251" })
      expect(lacking.isError).toBe(true)
      expect(lacking.output).toContain("windows-1251 has no character テ (U+30C6)")
    })

    test("a folder and a missing file are told as what they are", async () => {
      mkdirSync(rig.at("folder"))
      rig.put("settings.bin", "")
      const folder = await call("read_hex", { path: "folder" })
      expect([folder.isError, folder.output.includes("folder")]).toEqual([true, true])
      const gone = await call("find_hex", { path: "setings.bin", hex: "00" })
      expect([gone.isError, gone.output.includes("settings.bin")]).toEqual([true, true])
      const write = await call("write_hex", { path: "folder", offset: 0, data: "00" })
      expect(write.isError).toBe(true)
    })
  })
}

test("what is no hex is quoted", async () => {
  rig.put("a.bin", BYTES)
  const odd = await rig.call("write_hex", { path: "a.bin", offset: 0, data: "a" })
  expect(odd.output).toContain("write 0a, not a")
  const strange = await rig.call("find_hex", { path: "a.bin", hex: "6g" })
  expect(strange.output).toContain('"g" is no hex digit')
  const both = await rig.call("find_hex", { path: "a.bin", hex: "00", text: "x" })
  expect(both.output).toContain("pass hex, or text")
  const none = await rig.call("write_hex", { path: "a.bin", offset: 0, data: "" })
  expect(none.output).toContain("no bytes to write")
  const neither = await rig.call("write_hex", { path: "a.bin" })
  expect(neither.output).toContain("pass path, offset and data")
})

test("THEX-8: a search over 10 GiB holds pieces only, and stops at the wanted hits", async () => {
  const path = rig.put("sparse", "")
  truncateSync(path, 10 * 2 ** 30)
  writeFileSync(path, "needle", { flag: "r+" })
  const before = process.memoryUsage.rss()
  const found = await rig.call("find_hex", { path: "sparse", text: "needle", max_hits: 1 })
  expect(found.output).toEndWith("\n0\t0x0")
  const offset = 10 * 2 ** 30 - 64 * 2 ** 20
  const none = await rig.call("find_hex", { path: "sparse", text: "needle", offset })
  expect(none.output).toContain(`[0 hits in bytes ${offset}-${10 * 2 ** 30 - 1}`)
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 2 ** 20)
  const far = await rig.call("read_hex", { path: "sparse", offset: 10 * 2 ** 30 - 16 })
  expect(far.output).toContain("\n27ffffff0  00 00")
})

test("THEX-8: what lies across two pieces is found", async () => {
  const piece = 4 * 2 ** 20
  const bytes = new Uint8Array(2 * piece)
  bytes.set(Buffer.from("needle"), piece - 3)
  rig.put("a.bin", bytes)
  const { output } = await rig.call("find_hex", { path: "a.bin", text: "needle" })
  expect(output).toEndWith(`\n${piece - 3}\t0x${(piece - 3).toString(16)}`)
})

test("THEX-9: the client carries raw bytes, whatever is asked of them", async () => {
  rig.put("a.bin", BYTES)
  const machine = "client"
  await rig.call("read_hex", { path: "a.bin", size: 32, encoding: "cp932" }, { machine })
  await rig.call("find_hex", { path: "a.bin", text: "@A", encoding: "utf-16le" }, { machine })
  const write = { path: "a.bin", offset: 4, data: "de ad", truncate: true }
  await rig.call("write_hex", write, { machine })
  const path = rig.at("a.bin")
  const asked = rig.ops.filter(({ action }) => action !== "list_up")
  expect(asked).toEqual([
    { action: "read_bytes", path, offset: 0, size: 32 },
    { action: "find_bytes", path, data: "QABBAA==", offset: 0, limit: 50 },
    expect.objectContaining({ action: "read_bytes", path }),
    {
      ...{ action: "write_bytes", path, offset: 4, data: "3q0=", truncate: true },
      expect_sha256: new Bun.CryptoHasher("sha256").update(BYTES).digest("hex"),
    },
  ])
})

test("a client searches 32 MiB at once; the kernel asks for the rest", async () => {
  const path = rig.put("large.bin", "needle")
  truncateSync(path, 70 * 2 ** 20)
  writeFileSync(path, "needle", { flag: "a" })
  const { output } = await rig.call(
    "find_hex",
    { path: "large.bin", text: "needle" },
    { machine: "client" },
  )
  expect(output.split("\n").slice(1)).toEqual(["0\t0x0", `${70 * 2 ** 20}\t0x4600000`])
  expect(rig.ops.length).toBe(3)
})

test("a client that knows texts only is not asked what its bytes are", async () => {
  rig.put("a.bin", BYTES)
  const unknown = ["read_bytes", "write_bytes", "find_bytes"] as const
  const options = { machine: "client", unknown } as const
  const read = await rig.call("read_hex", { path: "a.bin" }, options)
  expect([read.isError, read.output.includes("reads texts only")]).toEqual([true, true])
})

test("a file that is too large for an undo is not written into", async () => {
  truncateSync(rig.put("large.bin", ""), 33 * 2 ** 20)
  const { isError, output } = await rig.call("write_hex", {
    ...{ path: "large.bin", offset: 0, data: "ff" },
  })
  expect([isError, output.includes("a program of the shell such as dd")]).toEqual([true, true])
  expect(statSync(rig.at("large.bin")).size).toBe(33 * 2 ** 20)
})

test("a dump says every byte that it was made of", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), (bytes, offset) => {
      const rows = dumpRows(bytes, { offset, decoder: undefined })
      const hex = rows.map(({ text }) => text.slice(10, 58)).join(" ")
      expect(bytesOfHex(hex)).toEqual(new Uint8Array(bytes))
    }),
  )
})
