/** How a client finds the kernel of this machine: real programs in a home of their own. */
import { afterEach, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../../../package.json"
import {
  addressFileOf,
  localUrl,
  readAddressFile,
  removeAddressFile,
  writeAddressFile,
} from "../../../src/cli/chat/address-file.ts"
import { createSession } from "../../../src/cli/chat/create-session.ts"
import { findKernel } from "../../../src/cli/chat/find-kernel.ts"
import { createKernelClient } from "../../../src/cli/chat/kernel-client.ts"
import { lastChatsIn } from "../../../src/cli/chat/last-chat.ts"
import { startServing } from "../../../src/kernel/serving.ts"
import { systemClock } from "../../../src/lib/clock.ts"
import { uuidV4 } from "../../../src/lib/id.ts"
import { parseJson } from "../../../src/lib/json.ts"
import {
  cleanUp,
  freePort,
  kernelEnvironment,
  linesOf,
  runChat,
  spawnKernel,
  until,
} from "./support.ts"

const cleaner = cleanUp()
afterEach(cleaner.run)

const dbOf = (folder: string): string => join(folder, "data/eva-kernel/eva.db")

async function serving(folder: string) {
  const port = freePort()
  const kernel = cleaner.add(await spawnKernel(folder, port), (child) => child.kill("SIGKILL"))
  const client = createKernelClient({ address: () => ({ url: `http://127.0.0.1:${port}` }) })
  return { kernel, port, chats: () => client.chats({}) }
}

const ask = (folder: string, text: string) => runChat({ folder, args: ["-qp", text] })
const answered = (text: string) => ({ code: 0, out: `${text}\n`, err: "" })

describe("the address file", () => {
  test("is written when a kernel listens, for its owner alone, and goes when it stops", async () => {
    const folder = cleaner.folder()
    const { kernel, port } = await serving(folder)
    const file = addressFileOf(dbOf(folder))
    expect(parseJson(readFileSync(file, "utf8"))).toEqual({
      ...{ url: `http://127.0.0.1:${port}`, pid: kernel.pid, version: packageJson.version },
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    kernel.kill("SIGTERM")
    await kernel.exited
    expect(existsSync(file)).toBe(false)
  })

  test("replaces one that others could read, and is not taken away by another kernel", () => {
    const db = join(cleaner.folder(), "eva.db")
    const file = addressFileOf(db)
    writeFileSync(file, "{}")
    chmodSync(file, 0o666)
    const entry = { url: "http://127.0.0.1:1", pid: process.pid, version: "1", token: "secret" }
    writeAddressFile(db, entry)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readAddressFile(db)).toMatchObject(entry)
    removeAddressFile(db, process.pid + 1)
    expect(existsSync(file)).toBe(true)
    removeAddressFile(db, process.pid)
    expect(existsSync(file)).toBe(false)
  })

  test.each(["", "{", "[]", '{"url":1}', '{"url":"http://x","pid":"1","version":"1"}'])(
    "that holds %j is none",
    (text) => {
      const db = join(cleaner.folder(), "eva.db")
      writeFileSync(addressFileOf(db), text)
      expect(readAddressFile(db)).toBeUndefined()
    },
  )

  test("of a process that is gone is none", async () => {
    const db = join(cleaner.folder(), "eva.db")
    const child = Bun.spawn(["true"])
    await child.exited
    writeAddressFile(db, { url: "http://127.0.0.1:1", pid: child.pid, version: "1" })
    expect(readAddressFile(db)).toBeUndefined()
  })

  test.each([
    ["http://0.0.0.0:8090", "http://127.0.0.1:8090"],
    ["http://[::]:8090", "http://[::1]:8090"],
    ["http://192.168.1.5:8090", "http://192.168.1.5:8090"],
  ])("a kernel at %s is reached at %s", (url, local) => {
    expect(localUrl(url)).toBe(local)
  })
})

describe("a client without an address", () => {
  test("takes the kernel that serves the database", async () => {
    const folder = cleaner.folder()
    const { chats } = await serving(folder)
    expect(await ask(folder, "hello")).toEqual(answered("hello"))
    expect((await chats()).map(({ title }) => title)).toEqual(["hello"])
  })

  test("starts one when none runs, which leaves nothing behind but what was said", async () => {
    const folder = cleaner.folder()
    expect(await ask(folder, "hello")).toEqual(answered("hello"))
    expect(existsSync(addressFileOf(dbOf(folder)))).toBe(false)
    const { chats } = await serving(folder)
    expect((await chats()).map(({ title }) => title)).toEqual(["hello"])
  })

  test("does not fall for a kernel that was killed", async () => {
    const folder = cleaner.folder()
    const { kernel } = await serving(folder)
    kernel.kill("SIGKILL")
    await kernel.exited
    expect(existsSync(addressFileOf(dbOf(folder)))).toBe(true)
    expect(await ask(folder, "hello")).toEqual(answered("hello"))
  })

  test("does not fall for a process that lives and does not answer", async () => {
    const folder = cleaner.folder()
    expect(await ask(folder, "one")).toEqual(answered("one"))
    writeAddressFile(dbOf(folder), { url: "http://127.0.0.1:1", pid: process.pid, version: "1" })
    expect(await ask(folder, "two")).toEqual(answered("two"))
  })

  test("takes over when the client that held the kernel has ended", async () => {
    const folder = cleaner.folder()
    const options = {
      configFiles: [],
      environment: kernelEnvironment(folder, 0),
      start: startServing,
      logFile: join(folder, "state/kernel.log"),
    }
    const first = await findKernel(options)
    const second = cleaner.add(await findKernel(options), ({ close }) => close())
    expect(second.address()).toEqual(first.address())
    const session = cleaner.add(
      await createSession({
        ...{ clock: systemClock, newKey: uuidV4, retryMs: [20] },
        ...{ address: second.address, relocate: second.relocate },
        client: createKernelClient({ address: second.address }),
      }),
      (open) => open.close(),
    )
    await session.send("hello")
    await until(session, ({ items, turns }) => items.length === 2 && turns.length === 0)
    await first.close()
    await session.send("still there?")
    const { items } = await until(session, (state) => state.items.length === 4)
    expect(linesOf(items)).toEqual(["> hello", "hello", "> still there?", "still there?"])
    expect(second.address()).not.toEqual(first.address())
    expect(readAddressFile(dbOf(folder))).toMatchObject({ transient: true, ...second.address() })
  })

  test("shares the kernel of another one that started at the same moment", async () => {
    const folder = cleaner.folder()
    await ask(folder, "first of all")
    const slow = `mock-plan: [{"say":"slow", "delay_ms": 400}]`
    const ran = await Promise.all([ask(folder, slow), ask(folder, slow), ask(folder, slow)])
    expect(ran).toEqual([answered("slow"), answered("slow"), answered("slow")])
  })

  test("EVA_URL and --url go before what runs here", async () => {
    const here = cleaner.folder()
    await serving(here)
    const there = cleaner.folder()
    const { port, chats } = await serving(there)
    const url = `http://127.0.0.1:${port}`
    await runChat({ folder: here, args: ["-qp", "by variable"], environment: { EVA_URL: url } })
    await runChat({ folder: here, args: ["-qp", "by option", "--url", `${url}/`] })
    expect((await chats()).map(({ title }) => title).sort()).toEqual(["by option", "by variable"])
  })

  test("a configuration that is wrong is one line and code 2", async () => {
    const folder = cleaner.folder()
    const ran = await runChat({ folder, args: ["-p", "x", "-c", "absent.yaml"] })
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 2, out: "" })
    expect(ran.err).toMatch(/^eva-kernel: .*absent\.yaml.*\n$/)
  })
})

describe("the last chat", () => {
  test("is kept for each kernel", () => {
    const file = join(cleaner.folder(), "deep/last.json")
    const last = lastChatsIn(file)
    expect(last.get("a")).toBeUndefined()
    last.set("a", "1")
    last.set("b", "2")
    last.set("a", "3")
    expect([lastChatsIn(file).get("a"), lastChatsIn(file).get("b")]).toEqual(["3", "2"])
  })

  test("that cannot be kept or read is no error", () => {
    const folder = cleaner.folder()
    const file = join(folder, "file")
    writeFileSync(file, "no json")
    expect(lastChatsIn(file).get("a")).toBeUndefined()
    lastChatsIn(join(file, "below")).set("a", "1")
  })
})
