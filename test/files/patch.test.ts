/** The patch engine on real folders: levels, two phases, errors, wrappers, line ends. */
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { applyPatch } from "../../src/files/patch/apply.ts"
import { latin1, patchFolder } from "./patch-tree.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")
const update = (path: string, ...lines: string[]) => patch(`*** Update File: ${path}`, ...lines)

/** What becomes of a file `a` with this text. */
async function changed(before: string | Uint8Array, ...hunks: string[]): Promise<string> {
  using folder = patchFolder({ a: before })
  await folder.apply(update("a", ...hunks))
  return readFileSync(join(folder.dir, "a"), "utf8")
}

async function refusal(before: Record<string, string>, text: string): Promise<string> {
  using folder = patchFolder(before)
  const was = folder.tree()
  const message = await folder.apply(text).then(
    () => "applied",
    (error: Error) => error.message.replaceAll(folder.dir, "DIR"),
  )
  expect(folder.tree()).toEqual(was)
  return message
}

describe("finding the place", () => {
  test.each([
    ["exact", "foo  \nbar\n", "foo  "],
    ["without white space at the end", "foo  \nbar\n", "foo"],
    ["without white space at the edges", "\t\tfoo\nbar\n", "foo"],
    ["with typography written plainly", "«foo» — ‘bar’…\nbar\n", `"foo" - 'bar'...`],
  ])("TFILE-9 S-11: quoted lines match %s", async (_level, before, quoted) => {
    expect(await changed(before, "@@", `-${quoted}`, "+new")).toBe("new\nbar\n")
  })

  test("TFILE-9: a stricter match further down beats a looser one before it", async () => {
    const before = "  foo\nfoo  \nfoo\n"
    expect(await changed(before, "@@", "-foo", "+new")).toBe("  foo\nfoo  \nnew\n")
  })

  test("a composed letter matches a decomposed one", async () => {
    expect(await changed("мой\n".normalize("NFD"), "@@", "-мой", "+твой")).toBe("твой\n")
  })

  test("an anchor says behind which line to look", async () => {
    const before = "class A\n  x\nclass B\n  x\n"
    expect(await changed(before, "@@ class B", "-  x", "+  y")).toBe("class A\n  x\nclass B\n  y\n")
  })

  test("context that was quoted loosely stays as the file has it", async () => {
    expect(await changed("  foo \nbar\n", "@@", " foo", "-bar", "+new")).toBe("  foo \nnew\n")
  })

  test("hunks out of order apply where their place is the only one", async () => {
    expect(await changed("a\nb\nc\n", "@@", "-c", "+C", "@@", "-a", "+A")).toBe("A\nb\nC\n")
    const twice = update("a", "@@", "-c", "+C", "@@", "-a", "+A")
    expect(await refusal({ a: "a\nb\na\nc\n" }, twice)).toContain("Failed to find expected lines")
  })
})

describe("bytes that a patch does not name", () => {
  test.each([
    ["CRLF", "a\r\nb\r\nc\r\n", "a\r\nnew\r\nc\r\n"],
    ["CR", "a\rb\rc\r", "a\rnew\rc\r"],
    ["mixed ends, new lines like the first", "a\r\nb\nc\n", "a\r\nnew\r\nc\n"],
    ["a stray CR", "a\rx\nb\nc\n", "a\rx\nnew\nc\n"],
    ["a BOM", "\ufeffa\nb\nc\n", "\ufeffa\nnew\nc\n"],
    ["NUL and no end of the last line", "\0a\nb\nc", "\0a\nnew\nc\n"],
  ])("%s", async (_what, before, after) => {
    expect(await changed(before, "@@", "-b", "+new")).toBe(after)
  })
})

describe("encodings", () => {
  const cp1251 = (text: string) =>
    Uint8Array.from(text, (char) => (char >= "А" ? char.charCodeAt(0) - 0x350 : char.charCodeAt(0)))

  test("a file keeps its encoding and its mark", async () => {
    const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")
    const words = "Привет, как дела сегодня вечером\nбуду дома\nпотом расскажу подробности\n"
    using folder = patchFolder({ a: utf16("one\r\nдва\r\n"), b: "\ufeffone\n", c: cp1251(words) })
    await folder.apply(
      patch(
        ...["*** Update File: a", "@@", "-два", "+три", "*** Update File: b", "@@", "-one", "+two"],
        ...["*** Update File: c", "*** Move to: d", "@@", "-буду дома", "+уйду гулять"],
      ),
    )
    expect(folder.tree()).toEqual(
      latin1({
        a: utf16("one\r\nтри\r\n"),
        b: "\ufefftwo\n",
        d: cp1251(words.replace("буду дома", "уйду гулять")),
      }),
    )
  })

  test("what a file's encoding lacks is refused before anything is written", async () => {
    const words = cp1251("Привет, как дела сегодня вечером\nбуду дома\nпотом расскажу\n")
    using folder = patchFolder({ a: words, b: "x\n" })
    const before = folder.tree()
    const text = patch(
      "*** Update File: b",
      "@@",
      "-x",
      "+y",
      "*** Update File: a",
      "@@",
      "-буду дома",
      "+日本",
    )
    await expect(folder.apply(text)).rejects.toThrow("日")
    expect(folder.tree()).toEqual(before)
  })

  test("a binary file is no text", async () => {
    using folder = patchFolder({ a: Uint8Array.from([0, 255, 254, 1, 2, 0, 200, 10]) })
    await expect(folder.apply(update("a", "@@", "-x", "+y"))).rejects.toThrow("text")
  })
})

describe("two phases", () => {
  test("TFILE-10: a hunk that does not fit leaves every file as it was", async () => {
    const text = patch(
      ...["*** Add File: new", "+x", "*** Update File: a", "@@", "-one", "+ONE"],
      ...["*** Delete File: b", "*** Update File: c", "@@", "-nowhere", "+x"],
    )
    expect(await refusal({ a: "one\n", b: "two\n", c: "three\n" }, text)).toBe(
      "apply_patch verification failed: Failed to find expected lines in DIR/c:\nnowhere",
    )
  })

  test("TFILE-8: several edits and files in one patch", async () => {
    using folder = patchFolder({ "a/x": "one\ntwo\n", b: "gone\n", c: "moved\n" })
    const { landed } = await folder.apply(
      patch(
        ...["*** Update File: a/x", "@@", "-one", "+ONE", "@@", "-two", "+TWO"],
        ...["*** Add File: new/deep/file", "+hello", "*** Delete File: b"],
        ...["*** Update File: c", "*** Move to: d", "@@", "-moved", "+arrived"],
      ),
    )
    expect(folder.tree()).toEqual({
      "a/x": "ONE\nTWO\n",
      "new/deep/file": "hello\n",
      d: "arrived\n",
    })
    expect(landed.map(({ kind, path }) => [kind, path])).toEqual([
      ["changed", "a/x"],
      ["added", "new/deep/file"],
      ["removed", "b"],
      ["moved", "d"],
    ])
  })

  test("TFILE-11: when a write fails, the outcome lists what landed, what failed and what was not tried", async () => {
    using folder = patchFolder({ a: "1\n", b: "2\n", c: "3\n" }, { parallel: 1 })
    const { write } = folder.files
    folder.files.write = async (path, text) => {
      if (path === "b") throw new Error("no space left on device")
      await write(path, text)
    }
    const each = (path: string, was: string) => [`*** Update File: ${path}`, "@@", `-${was}`, "+x"]
    const outcome = await folder.apply(
      patch(...each("a", "1"), ...each("b", "2"), ...each("c", "3")),
    )
    expect(outcome).toEqual({
      landed: [{ kind: "changed", path: "a" }],
      failed: [{ path: "b", reason: "no space left on device" }],
      notTried: ["c"],
    })
    expect(folder.tree()).toEqual({ a: "x\n", b: "2\n", c: "3\n" })
  })

  test("a cancel between two files lists what is not written", async () => {
    using folder = patchFolder({ a: "1\n", b: "2\n" }, { parallel: 1 })
    const cancel = new AbortController()
    const { write } = folder.files
    folder.files.write = async (path, text) => {
      await write(path, text)
      cancel.abort()
    }
    const text = patch("*** Add File: c", "+x", "*** Add File: d", "+x", "*** Delete File: a")
    const { landed, failed, notTried } = await applyPatch(text, folder.files, cancel.signal)
    expect(landed.map(({ path }) => path)).toEqual(["c"])
    expect([failed, notTried]).toEqual([[], ["d", "a"]])
  })

  test("a move whose source cannot go is told as the new file that it is", async () => {
    using folder = patchFolder(
      { a: "1\n" },
      { remove: async () => Promise.reject(new Error("busy")) },
    )
    const outcome = await folder.apply(update("a", "*** Move to: b", "@@", "-1", "+2"))
    expect(outcome).toEqual({
      landed: [{ kind: "added", path: "b", replaced: false }],
      failed: [{ path: "a", reason: "busy" }],
      notTried: [],
    })
    expect(folder.tree()).toEqual({ a: "1\n", b: "2\n" })
  })

  test("a move to its own place is a change", async () => {
    using folder = patchFolder({ a: "1\n" })
    await folder.apply(update("a", "*** Move to: ./a", "@@", "-1", "+2"))
    expect(folder.tree()).toEqual({ a: "2\n" })
  })
})

describe("errors", () => {
  test("TFILE-12: quote the lines that are not there, and the closest place", async () => {
    expect(await refusal({ a: "one\ntwo\nthree\n" }, update("a", "@@", " one", "-tvo", "+2"))).toBe(
      "apply_patch verification failed: Failed to find expected lines in DIR/a:\none\ntvo\n" +
        "The closest place begins on line 1; there line 2 is 'two', the patch has 'tvo'.",
    )
  })

  test.each([
    [update("a", "@@ nowhere", "-one", "+x"), "Failed to find context 'nowhere' in DIR/a"],
    [update("a", "@@", "-one", "+x", "*** Rename File: b"), "got: '*** Rename File: b'"],
    [patch("*** Frobnicate File: a"), "'*** Frobnicate File: a' is not a valid hunk header"],
    [update("missing", "@@", "-x", "+y"), "Failed to read file to update DIR/missing"],
    [update("a"), "Invalid patch hunk on line 2: Update file hunk for path 'a' is empty"],
    [patch("*** Add File: new", "no plus"), "Invalid patch hunk on line 3: 'no plus'"],
    [patch("*** Add File: dir", "+x"), "Failed to write file DIR/dir: it is a directory"],
    [patch("*** Delete File: dir"), "Failed to delete file DIR/dir"],
    [patch("*** Delete File: none"), "Failed to delete file DIR/none"],
    [patch("*** Add File: ../out", "+x"), "writing outside of the project: '../out'"],
    [patch(), "patch rejected: empty patch"],
    [
      update("a", "@@", "-one", "+x").slice(0, -3),
      "last line of the patch must be '*** End Patch'",
    ],
    [patch("*** Delete File: a", "*** Add File: ./a", "+x"), "multiple operations target DIR/a"],
  ])("TFILE-12: %p is refused in words that name it", async (text, words) => {
    expect(await refusal({ a: "one\n", "dir/x": "" }, text)).toContain(words)
  })
})

describe("wrappers", () => {
  const whole = update("a", "@@", "-one", "+ONE")
  test.each([
    ["a here-document", `apply_patch <<'EOF'\n${whole}\nEOF`],
    ["another word", `<<"PATCH"\n${whole}\nPATCH\n`],
    ["a code fence", `\`\`\`diff\n${whole}\n\`\`\``],
    ["both", `\`\`\`bash\ncat <<EOF\n${whole}\nEOF\n\`\`\``],
    ["a folder to go to", `cd sub && apply_patch <<EOF\n${whole.replace("a\n", "../a\n")}\nEOF`],
    ["CRLF", whole.replaceAll("\n", "\r\n")],
    ["no markers", whole.split("\n").slice(1, -1).join("\n")],
  ])("%s comes off", async (_what, text) => {
    using folder = patchFolder({ a: "one\n" })
    await folder.apply(text)
    expect(folder.tree()).toEqual({ a: "ONE\n" })
  })

  test.each([
    ["prose", `Here is the patch:\n${whole}`],
    ["a different end", `<<EOF\n${whole}\nEND`],
    ["another command", `echo hi && apply_patch <<EOF\n${whole}\nEOF`],
  ])("%s does not", async (_what, text) => {
    expect(await refusal({ a: "one\n" }, text)).toContain("The first line of the patch must be")
  })
})
