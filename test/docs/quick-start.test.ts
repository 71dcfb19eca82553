/**
 * Follows docs/quick-start.md word by word: its `sh` blocks run one after another in one shell, in an empty home,
 * with the program from its sources under the name eva-kernel. Its settings, and those of the operator's guide, load.
 */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse, stringify } from "yaml"
import { buildFromTexts } from "../../src/config/edit.ts"
import { mergeTrees } from "../../src/config/merge.ts"

setDefaultTimeout(120_000)

const ROOT = join(import.meta.dir, "../..")
const MAIN = join(ROOT, "src/main.ts")
const page = (name: string): string => readFileSync(join(ROOT, name), "utf8")

/** The fenced blocks of one language, in order. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
    (match) => match[1]!,
  )

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "eva-stranger-"))
  mkdirSync(join(home, "bin"))
  writeFileSync(
    join(home, "bin/eva-kernel"),
    `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`,
    { mode: 0o755 },
  )
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** What the page says about the usual port happens on a free one. */
function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
  const { port } = server
  void server.stop(true)
  return port!
}

const tools = ["bash", "curl", "sed"].filter((tool) => !Bun.which(tool))
if (tools.length > 0) process.stderr.write(`skipped: not installed here: ${tools.join(", ")}\n`)
const runsHere = tools.length === 0 && process.platform === "linux"

test.skipIf(!runsHere)(
  "a stranger who types the quick start gets to an answer and leaves nothing running",
  async () => {
    const port = freePort()
    const steps = blocks(page("docs/quick-start.md"), "sh")
    expect(steps.length).toBeGreaterThan(5)
    const script = steps
      .map((step, i) => `echo "== step ${i}"\n${step.replaceAll("8090", String(port))}`)
      .join("\n")

    const child = Bun.spawn(["bash", "-euo", "pipefail", "-c", script], {
      cwd: home,
      env: {
        PATH: `${join(home, "bin")}:${process.env.PATH ?? ""}`,
        HOME: home,
        EVA_SERVER__LISTEN: `127.0.0.1:${port}`,
        // Nobody is called from a test: what a stranger without a key gets.
        EVA_LLM__PROVIDER: "mock",
        BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    const [out, err, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ])
    expect({ code, ...(code !== 0 && { out, err }) }).toEqual({ code: 0 })

    const said = out.split(/^== step \d+\n/m).slice(1)
    const stepWith = (words: string): string =>
      said[steps.findIndex((step) => step.includes(words))]!
    expect(stepWith("--version")).toMatch(/^eva-kernel \d/)
    expect(stepWith("init --yes")).toContain("mock answered in ")
    expect(stepWith("config check")).toStartWith("ok: ")
    expect(stepWith("chat -p")).toContain("Say hello")
    const stream = stepWith("Hello over HTTP")
    expect(stream).toContain('"status":"ok"')
    expect(stream).toContain('"type":"done"')
    expect(stepWith("/items?limit")).toContain("Hello over HTTP")
    expect(existsSync(join(home, ".local/share/eva-kernel/eva.db"))).toBe(true)
    // A kernel that had been killed would have left its log behind.
    expect(readdirSync(join(home, ".local/share/eva-kernel"))).not.toContain("eva.db-wal")
  },
)

test.each(["docs/quick-start.md", "docs/operators.md"])(
  "the settings that %s shows load",
  async (name) => {
    const minimal = { server: {}, db: { path: "eva.db" }, llm: { provider: "mock" } }
    const shown = blocks(page(name), "yaml")
    expect(shown.length).toBeGreaterThan(0)
    for (const text of shown) {
      const tree = mergeTrees(minimal, parse(text) as Record<string, unknown>)
      await buildFromTexts([{ path: "/etc/eva/config.yaml", text: stringify(tree) }], {
        environment: {},
        cwd: "/",
      })
    }
  },
)

test.each(["README.md", "docs/quick-start.md", "docs/operators.md"])(
  "the links of %s lead somewhere",
  (name) => {
    const folder = join(ROOT, name, "..")
    const links = [...page(name).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1]!)
    expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([])
  },
)

test("every file and command that the operator's guide names is there", () => {
  const text = page("docs/operators.md")
  const files = [...text.matchAll(/`((?:packaging|docs)\/[\w./-]+|compose\.yaml|flake\.nix)`/g)]
  expect(files.length).toBeGreaterThan(1)
  for (const [, file] of files) expect([file, existsSync(join(ROOT, file!))]).toEqual([file, true])
})
