/** `apply_patch` on the client's machine: composed of reads and writes, which the terminal client carries out. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { executeOp } from "../../src/cli/chat/hands/execute-op.ts"
import type { FileWrite } from "../../src/files/checkpoints.ts"
import { patchTool } from "../../src/files/patch/tool.ts"
import { patchMachines } from "../../src/files/patch-machines.ts"
import { createSeenFiles } from "../../src/files/seen-files.ts"
import { errorText } from "../../src/lib/error.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import type { ClientOp } from "../../src/schema/client-op.ts"
import { createLocalMachine } from "../../src/shell/local-machine.ts"
import { ToolFailure } from "../../src/tools/tool.ts"
import { masterIdentity, reachTurn, runTool } from "../support/tools.ts"
import { handsOn } from "./hands-rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let folder: string
let ops: ClientOp[]
let kept: FileWrite[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "eva-client-"))
  ops = []
  kept = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface CallOptions {
  on?: "client" | "server"
  /** Actions that the client does not know. */
  unknown?: ClientOp["action"][]
  /** Before an operation is carried out. */
  before?: (op: ClientOp) => void
  trusted?: boolean
}

function apply(lines: string[], options: CallOptions = {}) {
  const { on = "client", unknown = [], trusted = true } = options
  const tool = patchTool(
    patchMachines({
      handsOf: handsOn(createLocalMachine({ environment: {} })),
      beforeWrite: async (...writes) => void kept.push(...writes),
      seen: createSeenFiles(),
    }),
  )
  const clientOp = async (op: ClientOp) => {
    ops.push(op)
    options.before?.(op)
    if (unknown.includes(op.action)) throw new ToolFailure("unknown op action")
    const place = { cwd: folder, environment: {}, signal: new AbortController().signal }
    try {
      return await executeOp(op, { ...place, newId: uuidV4, onProgress: () => {} })
    } catch (error) {
      throw new ToolFailure(errorText(error))
    }
  }
  const patch = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")
  return runTool(
    tool,
    { patch, on },
    {
      clientOp,
      workdir: { path: folder, on },
      turn: reachTurn({ identity: masterIdentity({ trusted }) }),
    },
  )
}

const put = (name: string, content: string) => writeFileSync(join(folder, name), content)
const get = (name: string) => readFileSync(join(folder, name), "utf8")
const EDIT = ["*** Update File: a", "@@", "-one", "+ONE"]

describe("on the client's machine", () => {
  test("TFILE-21: a patch is composed of reads and writes, and the answer names the machine", async () => {
    put("a", "one\r\ntwo\r\n")
    const { output } = await apply([...EDIT, "*** Add File: new/b", "+hello"])
    expect(output).toBe("Done on client:\nM a\nA new/b")
    expect([get("a"), get("new/b")]).toEqual(["ONE\r\ntwo\r\n", "hello\n"])
    const actions = new Set(ops.map(({ action }) => action))
    expect([...actions].sort()).toEqual(["list_up", "read_bytes", "write"])
  })

  test("TFILE-21: with on: server the same patch acts on the working machine", async () => {
    put("a", "one\n")
    const { output } = await apply(EDIT, { on: "server" })
    expect([output, get("a"), ops]).toEqual(["Done on server:\nM a", "ONE\n", []])
  })

  test("what a file held is kept for an undo", async () => {
    put("a", "one\n")
    await apply([...EDIT, "*** Add File: b", "+x"])
    expect(kept.map(({ machine, path, former }) => [machine, path, former?.toString()])).toEqual([
      ["client", join(folder, "a"), "one\n"],
      ["client", join(folder, "b"), undefined],
    ])
  })

  test.each([
    ["Delete File", ["*** Delete File: c"], "Failed to delete file"],
    ["Move to", ["*** Update File: c", "*** Move to: d", "@@", "-x", "+y"], "Failed to move file"],
  ])(
    "TFILE-13: %s is refused with the way to do it, and nothing is written",
    async (_what, lines, words) => {
      put("a", "one\n")
      put("c", "x\n")
      const { isError, output } = await apply([...EDIT, ...lines])
      expect(isError).toBe(true)
      expect(output).toContain(words)
      expect(output).toContain("local_shell (rm, mv)")
      expect([get("a"), get("c")]).toEqual(["one\n", "x\n"])
    },
  )

  test("a file that was changed between reading and writing is left alone, and said so", async () => {
    put("a", "one\n")
    const { isError, output } = await apply(["*** Add File: b", "+x", ...EDIT], {
      before: ({ action }) => {
        if (action === "write" && !existsSync(join(folder, "b"))) put("a", "mine\n")
      },
    })
    expect(isError).toBe(true)
    expect(output).toContain("the file was changed meanwhile; read it again")
    expect(output).toContain("Landed:\nA b")
    expect(get("a")).toBe("mine\n")
  })

  test("a client that cannot list and reads texts only is served as well", async () => {
    put("a", "one\n")
    const { output } = await apply([...EDIT, "*** Add File: b", "+x"], {
      unknown: ["list_up", "read_bytes"],
    })
    expect(output).toBe("Done on client:\nM a\nA b")
    expect([get("a"), get("b")]).toEqual(["ONE\n", "x\n"])
  })

  test("a user who refuses a reading is asked once", async () => {
    put("a", "one\n")
    const { isError, output } = await apply(EDIT, {
      before: ({ action }) => {
        if (action === "read_bytes") throw new ToolFailure("the user refused this operation")
      },
    })
    expect(isError).toBe(true)
    expect(output).toContain("the user refused this operation")
    expect(ops.map(({ action }) => action)).toEqual(["list_up", "read_bytes"])
  })

  test("a file that is not there is named", async () => {
    const { isError, output } = await apply(EDIT)
    expect([isError, output]).toEqual([
      true,
      `apply_patch verification failed: Failed to read file to update ${join(folder, "a")}: No such file or directory`,
    ])
  })

  test("an untrusted turn does not get there", async () => {
    put("a", "one\n")
    const { isError, output } = await apply(EDIT, { trusted: false })
    expect(isError).toBe(true)
    expect(output).toContain("only a trusted turn")
    expect(ops).toEqual([])
  })
})

test("what the model reads about the tool", () => {
  const { description, input } = patchTool(() => {
    throw new Error("no call")
  })
  const { properties } = input as { properties: Record<string, { description: string }> }
  expect([
    description,
    ...Object.entries(properties).map(([name, field]) => `${name}: ${field.description}`),
  ]).toMatchSnapshot()
})
