/** The build's promises, on a small program in the shape of ours. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { build } from "../../scripts/build.ts"

const SOURCES = {
  "package.json": '{ "name": "small", "version": "1.2.3" }',
  "src/main.ts": `
    declare const BUILD_COMMIT: string
    const { ask } = await import("./store/reader.ts")
    const answer = await ask("question")
    console.log(JSON.stringify({ answer, commit: BUILD_COMMIT, planted: process.env.PLANTED }))
  `,
  "src/store/reader.ts": `
    export function ask(text: string): Promise<string> {
      const worker = new Worker(new URL("./read-worker.ts", import.meta.url).href)
      return new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => { worker.terminate(); resolve(data) }
        worker.onerror = (event) => reject(new Error(event.message))
        worker.postMessage(text)
      })
    }
    export const here = __dirname
  `,
  "src/store/read-worker.ts": `
    declare const self: Worker
    self.onmessage = ({ data }) => self.postMessage(data + " heard in " + __dirname)
  `,
  // Entry points, too; this small program does not start them.
  "src/memory/recall-worker.ts": "",
  "src/files/scan-worker.ts": "",
  "src/history/search-worker.ts": "",
  // What lies in the folder that the program is started in, and must not steer it.
  "elsewhere/.env": "PLANTED=yes",
  "elsewhere/bunfig.toml": 'preload = ["./preload.ts"]',
  "elsewhere/preload.ts": 'console.log("preloaded")',
}

let root: string
let binary: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "eva-build-"))
  for (const [path, text] of Object.entries(SOURCES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  binary = await build({ root, outfile: "out/small" })
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

test("the executable finds its worker and is not steered by the folder it runs in", () => {
  const child = Bun.spawnSync([binary], { cwd: join(root, "elsewhere") })
  expect(child.stderr.toString()).toBe("")
  expect(JSON.parse(child.stdout.toString())).toEqual({
    answer: "question heard in /",
    commit: process.env.EVA_COMMIT ?? "unknown",
  })
})

test("the executable holds no path of the machine that built it", () => {
  expect(readFileSync(binary).includes(root)).toBe(false)
})
