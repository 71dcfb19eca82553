/** What a turn wrote to files can be taken back, as far as it is kept, and never over somebody else's work. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { restoreFiles } from "../../src/files/checkpoint-restore.ts"
import { type CheckpointLimits, createCheckpoints } from "../../src/files/checkpoints.ts"
import { localFiles } from "../../src/files/whole-files.ts"
import { uuidV7 } from "../../src/lib/id.ts"
import { openTempStore } from "../support/temp-store.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

const MIB = 1024 * 1024
const LIMITS: CheckpointLimits = {
  keepMs: 7 * 24 * 3600 * 1000,
  ...{ fileMax: 4 * MIB, chatMax: 32 * MIB, totalMax: 256 * MIB },
}

let rig: ReturnType<typeof createRig>
beforeEach(() => {
  rig = createRig()
})
afterEach(() => rig.close())

function createRig(limits: Partial<CheckpointLimits> = {}) {
  const temp = openTempStore()
  const { store, clock, folder } = temp
  const newId = uuidV7(clock)
  const checkpoints = createCheckpoints({ store, clock, limits: { ...LIMITS, ...limits } })
  const at = (path: string) => join(folder, path)
  const files = localFiles(newId)
  const running = new Set<string>()

  const chats: string[] = []
  const chat = (id: string): void => {
    store.db.run("INSERT INTO chats (id, created_at, updated_at) VALUES (?, 0, 0)", [id])
    chats.push(id)
  }
  /** What a tool does in the newest chat: the checkpoint first, then the write. No text removes. */
  const write = async (turn: string, path: string, text?: string) => {
    const chatId = chats.at(-1)!
    const former = await files.read(at(path))
    await checkpoints.beforeWrite({
      ...{ chatId, writerId: turn, machine: "server", path: at(path) },
      ...{ former: former?.bytes, ...(former?.mode !== undefined && { formerMode: former.mode }) },
      next: text === undefined ? undefined : Buffer.from(text),
    })
    if (text === undefined) rmSync(at(path))
    else writeFileSync(at(path), text)
  }
  chat("chat")
  return {
    ...{ ...temp, checkpoints, at, chat, write, running, newId },
    read: (path: string) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined),
    put: (path: string, text: string) => writeFileSync(at(path), text),
    undo: (body: { turn_id?: string; force?: boolean } = {}) =>
      restoreFiles(
        {
          ...{ checkpoints, newId, isRunning: (id) => running.has(id) },
          filesOf: (machine) => (machine === "server" ? files : undefined),
        },
        "chat",
        body,
      ),
  }
}

const names = (list: { path: string }[]) => list.map(({ path }) => path.split("/").at(-1))

describe("an undo", () => {
  test("brings back what was changed and removed, and removes what was made", async () => {
    rig.put("changed", "before")
    writeFileSync(rig.at("removed"), "was here", { mode: 0o755 })
    await rig.write("turn", "changed", "after")
    await rig.write("turn", "changed", "after that")
    await rig.write("turn", "made", "new")
    await rig.write("turn", "removed")

    const result = await rig.undo()
    expect(names(result.restored)).toEqual(["changed", "removed"])
    expect(names(result.removed)).toEqual(["made"])
    expect(result.conflicts).toEqual([])
    expect(["changed", "made", "removed"].map(rig.read)).toEqual(["before", undefined, "was here"])
    expect(statSync(rig.at("removed")).mode & 0o777).toBe(0o755)
  })

  test("can be undone itself", async () => {
    rig.put("changed", "before")
    await rig.write("turn", "changed", "after")
    await rig.write("turn", "made", "new")
    const { restore_id } = await rig.undo()
    await rig.undo({ turn_id: restore_id! })
    expect(["changed", "made"].map(rig.read)).toEqual(["after", "new"])
  })

  test("takes the last turn that wrote and was not undone", async () => {
    rig.put("file", "0")
    await rig.write("turn 1", "file", "1")
    await rig.write("turn 2", "file", "2")
    expect((await rig.undo()).turn_id).toBe("turn 2")
    expect(rig.read("file")).toBe("1")
    expect((await rig.undo()).turn_id).toBe("turn 1")
    expect(rig.read("file")).toBe("0")
    await expect(rig.undo()).rejects.toThrow("no turn of this chat wrote a file")
  })

  test("leaves a file that was changed since, unless forced; what it then overwrites is kept", async () => {
    rig.put("mine", "before")
    await rig.write("turn", "mine", "after")
    await rig.write("turn", "made", "new")
    rig.put("mine", "my own work")

    const first = await rig.undo()
    expect(first.conflicts.map(({ reason }) => reason)).toEqual(["changed_since"])
    expect(names(first.removed)).toEqual(["made"])
    expect(rig.read("mine")).toBe("my own work")

    const forced = await rig.undo({ turn_id: "turn", force: true })
    expect([names(forced.restored), names(forced.unchanged)]).toEqual([["mine"], ["made"]])
    expect(rig.read("mine")).toBe("before")
    await rig.undo({ turn_id: forced.restore_id! })
    expect(rig.read("mine")).toBe("my own work")
  })

  test("of an earlier turn leaves what a later one wrote", async () => {
    rig.put("file", "0")
    await rig.write("turn 1", "file", "1")
    await rig.write("turn 2", "file", "2")
    const result = await rig.undo({ turn_id: "turn 1" })
    expect(names(result.conflicts)).toEqual(["file"])
    expect(rig.read("file")).toBe("2")
  })

  test("of a write that never happened changes nothing", async () => {
    rig.put("file", "before")
    await rig.checkpoints.beforeWrite({
      ...{ chatId: "chat", writerId: "turn", machine: "server", path: rig.at("file") },
      ...{ former: Buffer.from("before"), next: Buffer.from("after") },
    })
    const result = await rig.undo()
    expect([names(result.unchanged), result.restore_id]).toEqual([["file"], null])
  })

  test("of a turn whose last write failed still knows its earlier one", async () => {
    rig.put("file", "before")
    await rig.write("turn", "file", "first")
    await rig.checkpoints.beforeWrite({
      ...{ chatId: "chat", writerId: "turn", machine: "server", path: rig.at("file") },
      ...{ former: Buffer.from("first"), next: Buffer.from("second") },
    })
    await rig.undo()
    expect(rig.read("file")).toBe("before")
  })

  test("hands the files of the client's machine to the client", async () => {
    await rig.checkpoints.beforeWrite({
      ...{ chatId: "chat", writerId: "turn", machine: "client", path: "/home/me/a" },
      ...{ former: Buffer.from("before"), next: Buffer.from("after") },
    })
    const { client } = await rig.undo()
    expect(client).toEqual([
      {
        path: "/home/me/a",
        former: Buffer.from("before").toString("base64"),
        expect_sha256: Bun.SHA256.hash("after", "hex"),
      },
    ])
  })

  test("names a machine that is not reached", async () => {
    await rig.checkpoints.beforeWrite({
      ...{ chatId: "chat", writerId: "turn", machine: "box", path: "/a" },
      ...{ former: undefined, next: Buffer.from("x") },
    })
    const { conflicts } = await rig.undo()
    expect(conflicts.map(({ reason, message }) => [reason, message])).toEqual([
      ["failed", "The machine box is not reached now."],
    ])
  })

  test("waits for no running turn", async () => {
    await rig.write("turn", "file", "x")
    rig.running.add("chat")
    await expect(rig.undo()).rejects.toThrow("a turn of this chat runs")
  })

  test("of an unknown turn says so", async () => {
    await expect(rig.undo({ turn_id: "nobody" })).rejects.toThrow("nothing is kept of turn nobody")
  })
})

describe("what is kept", () => {
  const limited = (limits: Partial<CheckpointLimits>) => {
    rig.close()
    rig = createRig(limits)
  }
  const noise = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)))
  const kept = (chatId = "chat") => rig.checkpoints.list(chatId).map(({ id }) => id)

  test("is listed, newest turn first", async () => {
    rig.put("b", "old")
    await rig.write("turn 1", "a", "new")
    await rig.write("turn 2", "b", "newer")
    await rig.write("turn 2", "a")
    const list = rig.checkpoints.list("chat").map(({ id, kind, files }) => ({
      ...{ id, kind },
      files: files.map(({ path, change }) => [path.split("/").at(-1), change]),
    }))
    expect(list).toEqual([
      {
        ...{ id: "turn 2", kind: "turn" },
        files: [
          ["b", "changed"],
          ["a", "removed"],
        ],
      },
      { id: "turn 1", kind: "turn", files: [["a", "made"]] },
    ])
  })

  test("is not a file over the limit: the undo says so and goes on", async () => {
    limited({ fileMax: 10 })
    rig.put("large", "x".repeat(11))
    await rig.write("turn", "large", "small")
    await rig.write("turn", "made", "new")
    const { conflicts, removed } = await rig.undo()
    expect([conflicts.map(({ reason }) => reason), names(removed)]).toEqual([
      ["not_kept"],
      ["made"],
    ])
  })

  test("of a chat is bounded: the oldest turn goes, whole", async () => {
    limited({ chatMax: 2500 })
    for (const turn of ["turn 1", "turn 2", "turn 3"]) {
      writeFileSync(rig.at(turn), noise(1000))
      await rig.write(turn, turn, "x")
      await rig.write(turn, `made by ${turn}`, "y")
    }
    expect(kept()).toEqual(["turn 3", "turn 2"])
  })

  test("of all chats is bounded: the oldest turn of any goes", async () => {
    limited({ totalMax: 2500 })
    for (const chat of ["other 1", "other 2", "other 3"]) {
      rig.chat(chat)
      writeFileSync(rig.at(chat), noise(1000))
      await rig.write("turn", chat, "x")
    }
    expect(["other 1", "other 2", "other 3"].map((chat) => kept(chat).length)).toEqual([0, 1, 1])
  })

  test("of one turn that is too much alone loses what comes last, never what it began with", async () => {
    limited({ chatMax: 1500 })
    for (const path of ["a", "b"]) {
      writeFileSync(rig.at(path), noise(1000))
      await rig.write("turn", path, "x")
    }
    const { restored, conflicts } = await rig.undo()
    expect([names(restored), names(conflicts)]).toEqual([["a"], ["b"]])
  })

  test("goes by age, with its chat and with what was said in it", async () => {
    await rig.write("turn", "a", "x")
    rig.clock.advance(LIMITS.keepMs + 1)
    await rig.write("later", "b", "x")
    expect(rig.checkpoints.purgeExpired()).toBe(1)
    expect(kept()).toEqual(["later"])
    rig.checkpoints.removeOfChat("chat")
    expect(kept()).toEqual([])
    await rig.write("again", "b", "y")
    rig.store.db.run("DELETE FROM chats")
    expect(kept()).toEqual([])
  })

  test("is compressed", async () => {
    rig.put("a", "the same line\n".repeat(10_000))
    await rig.write("turn", "a", "x")
    const [size] = rig.checkpoints.table.sizes()
    expect(size!.bytes).toBeLessThan(1000)
  })
})
