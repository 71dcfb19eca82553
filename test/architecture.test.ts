/**
 * The plan of the house as a test: which room stands on which, what lives where, how large a thing may
 * grow. `docs/architecture.md` explains it; a change of a table here is a design decision and comes with
 * a dated file in `docs/decisions/`.
 *
 * Each rule also runs on a small tree that breaks it, so that a rule cannot silently stop to work.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../package.json"
import * as rules from "./support/house-rules.ts"
import { parseTree, parseTrees, readTree, type SourceTree } from "./support/source-tree.ts"

const ROOT = join(import.meta.dir, "..")

/** Rooms from the ground up. A file imports its own room and lower rows, never upward, never a neighbour. */
const ROWS: rules.Rows = [
  ["lib"],
  ["schema"],
  ["config"],
  ["store", "llm", "net"],
  ["tools", "events"],
  [
    ...["chats", "persons", "spend", "images", "ext", "memory", "skills", "toolsets", "notebook"],
    ...["plan", "cron", "approvals", "rules", "shell", "files", "web", "mcp", "modules", "hooks"],
    ...["catalog", "youtube", "code", "history"],
  ],
  ["context", "sleep", "curation"],
  ["turn"],
  ["agents", "jobs"],
  ["api", "cli", "page"],
  ["kernel.ts", "kernel", "main.ts"],
]

/** Files of `src` that nothing imports because something outside starts them. */
const ENTRIES = ["src/main.ts"]

/** What `src` may read from outside itself. */
const OUTSIDE = ["package.json"] // lib/build-info.ts takes the version from it

const SQL_HOMES = ["src/store/", "src/*/store.ts", "src/*/store/"]

/** A package is a guest in one place, so that replacing it is a change of one place. */
const PACKAGE_HOMES: rules.Homes = {
  "@sinclair/typebox": ["src/"], // the language of contracts
  elysia: ["src/api/"],
  "@elysiajs/swagger": ["src/api/"],
  "swagger-ui-dist": ["src/api/"],
  openai: ["src/llm/openai*.ts"],
  "@anthropic-ai/sdk": ["src/llm/anthropic*.ts"],
  "eventsource-parser": ["src/lib/sse*.ts", "src/llm/"],
  pino: ["src/lib/log.ts"],
  yaml: ["src/config/", "src/llm/mock-plan.ts"], // settings, and the script that the mock plays
  "smol-toml": ["src/config/", "src/ext/"], // settings, and the declarations of external tools
  "@cfworker/json-schema": ["src/tools/"],
  "@clack/prompts": ["src/cli/init/"],
  "@earendil-works/pi-tui": ["src/cli/chat/screen/"],
  "ipaddr.js": ["src/net/address.ts"],
  htmlparser2: ["src/web/html-text.ts"],
  diff: ["src/cli/chat/hands/op-request.ts"],
  "@orama/stemmers": ["src/lib/stems.ts"],
  "highlight.js": ["src/cli/chat/screen/highlight.ts"],
  "iconv-lite": ["src/files/encodings.ts"],
  re2js: ["src/tools/redaction/user-rules.ts", "src/files/line-search.ts"],
}

const NAME_HOMES: rules.Homes = {
  "Date.now": ["src/lib/clock.ts"],
  "new Date()": ["src/lib/clock.ts"],
  "performance.now": ["src/lib/clock.ts", "src/lib/async.ts"], // async: deadlines on the machine's own timers
  "Math.random": ["src/lib/id.ts"],
  "crypto.random*": ["src/lib/id.ts"],
  "crypto.getRandomValues": ["src/lib/id.ts"],
  "JSON.parse": ["src/lib/json.ts"],
  "process.env": ["src/lib/environment.ts"],
  "Bun.env": ["src/lib/environment.ts"],
  "import.meta.env": ["src/lib/environment.ts"],
  "console.*": [], // people read stdout and stderr of the command line, everybody else the log
  __dirname: [], // in a compiled binary it is a path of the build machine
  __filename: [],
  "import.meta.dir*": [],
  "import.meta.path": [],
  "import.meta.file*": [],
}

/** A worker's module is its one object: it serves one thread and ends with it. */
const STATE_HOMES = ["src/**/*-worker.ts"]

const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 70

/** Functions that may be longer, each with its own limit and the reason. */
const LONG_FUNCTIONS: Record<string, number> = {}

const SDK_GUESTS = { folders: ["src/schema/"], packages: ["@sinclair/typebox"] }
const PLUGIN_GUESTS = { folders: ["sdk/"], packages: [] }

interface Rule {
  name: string
  check: (tree: SourceTree) => string[]
  /** Trees that break the rule, and how often each does. */
  breaks: { files: Record<string, string>; times?: number }[]
  /** A tree close to the broken one that is right. */
  keeps: Record<string, string>
}

const NOTHING = "export {}"

const RULES: Rule[] = [
  {
    name: "every file stands in a room",
    check: (tree) => rules.strayFiles(tree, ROWS),
    breaks: [{ files: { "src/utils/pad.ts": NOTHING } }, { files: { "src/pad.ts": NOTHING } }],
    keeps: { "src/lib/pad.ts": NOTHING, "src/main.ts": NOTHING, "src/store/sql.d.ts": "" },
  },
  {
    name: "imports point down, never up, sideways or out",
    check: (tree) => rules.wrongImports(tree, ROWS, OUTSIDE),
    breaks: [
      { files: { "src/lib/a.ts": 'import "../turn/loop.ts"' } },
      { files: { "src/chats/a.ts": 'import type { B } from "../memory/b.ts"' } },
      { files: { "src/chats/a.ts": 'export { b } from "../spend/b.ts"' } },
      { files: { "src/llm/a.ts": 'const b = await import("../api/b.ts")' } },
      { files: { "src/llm/a.ts": 'type B = import("../store/b.ts").B' } },
      { files: { "src/cli/a.ts": "const b = await import(`../kernel.ts`)" } },
      { files: { "src/lib/a.ts": 'new Worker(new URL("../store/b.ts", import.meta.url))' } },
      { files: { "src/lib/a.ts": 'import "../../test/support/b.ts"' } },
    ],
    keeps: {
      "src/turn/a.ts": 'import "./b.ts"\nimport type { C } from "../lib/c.ts"',
      "src/main.ts": 'await import("./cli/a.ts")\nawait import("./kernel/serving.ts")',
      "src/kernel/serving.ts": 'import { createKernel } from "../kernel.ts"',
      "src/lib/c.ts": '// import "../turn/a.ts"\nconst text = \'import "../turn/a.ts"\'',
    },
  },
  {
    name: "no two files import each other in a circle, types included",
    check: rules.circles,
    breaks: [
      {
        files: {
          "src/lib/a.ts": 'import type { B } from "./b.ts"',
          "src/lib/b.ts": 'import type { C } from "./c.ts"',
          "src/lib/c.ts": 'import type { A } from "./a.ts"',
        },
      },
      { files: { "src/lib/a.ts": 'import { a } from "./a.ts"' } },
    ],
    keeps: {
      "src/lib/a.ts": 'import "./b.ts"\nimport "./c.ts"',
      "src/lib/b.ts": 'import "./c.ts"\nnew URL("./a.ts", import.meta.url)',
      "src/lib/c.ts": NOTHING,
    },
  },
  {
    name: "SQL lives in src/store and in files named store.ts",
    check: (tree) => rules.straySql(tree, SQL_HOMES),
    breaks: [
      { files: { "src/chats/chats.ts": 'db.query("select id from chat")' } },
      { files: { "src/chats/chats.ts": "const all = `SELECT id\nFROM chat WHERE ` + where" } },
      { files: { "src/api/a.ts": 'import { Database } from "bun:sqlite"' } },
      { files: { "src/chats/chats.ts": 'db.exec("pragma user_version = 3")' } },
      { files: { "src/chats/new.sql": "create table chat (id text)" } },
    ],
    keeps: {
      "src/chats/store.ts": 'db.query("select id from chat")',
      "src/store/open.ts": 'import { Database } from "bun:sqlite"',
      "src/chats/chats.ts": 'const hint = "select a chat first"\nrun("update the title")',
    },
  },
  {
    name: "a package is imported in its one home",
    check: (tree) => rules.strayPackages(tree, PACKAGE_HOMES),
    breaks: [
      { files: { "src/chats/a.ts": 'import { Elysia } from "elysia"' } },
      { files: { "src/turn/a.ts": 'import type { Stream } from "openai/streaming"' } },
      { files: { "src/llm/a.ts": 'import Anthropic from "@anthropic-ai/sdk"' } },
      { files: { "src/lib/a.ts": 'import { chunk } from "lodash"' } },
    ],
    keeps: {
      "src/llm/openai-wire.ts": 'import { OpenAI } from "openai"\nimport { join } from "node:path"',
      "src/api/app.ts": 'import { Elysia } from "elysia"\nimport { $ } from "bun"',
    },
  },
  {
    name: "clock, chance, JSON, environment and console are used in their homes",
    check: (tree) => rules.strayNames(tree, NAME_HOMES),
    breaks: [
      { files: { "src/turn/a.ts": "const now = Date.now()" } },
      { files: { "src/turn/a.ts": "const now = new Date()" } },
      { files: { "src/turn/a.ts": "const now = globalThis.Date.now" } },
      { files: { "src/turn/a.ts": "const dice = Math.random()" } },
      { files: { "src/turn/a.ts": "const id = crypto.randomUUID()" } },
      { files: { "src/turn/a.ts": 'import { randomBytes } from "node:crypto"' } },
      { files: { "src/turn/a.ts": "const all = lines.map(JSON.parse)" } },
      { files: { "src/turn/a.ts": "const home = process.env.HOME" } },
      { files: { "src/turn/a.ts": 'const home = process.env["HOME"]' } },
      { files: { "src/turn/a.ts": 'import { env } from "node:process"' } },
      { files: { "src/turn/a.ts": 'console.log("here")' } },
      { files: { "src/turn/a.ts": "const here = __dirname + import.meta.dirname" }, times: 2 },
    ],
    keeps: {
      "src/lib/clock.ts": "const now = Date.now()",
      "src/turn/a.ts": "// Date.now()\nconst text = 'JSON.parse(x)'\nconst then = new Date(5)",
    },
  },
  {
    name: "nothing is typed any",
    check: rules.anyTypes,
    breaks: [
      { files: { "src/lib/a.ts": "export function a(b: any) {}" } },
      {
        files: { "src/lib/a.ts": "const a = new Map<string, any>()\nconst b = a as any" },
        times: 2,
      },
    ],
    keeps: { "src/lib/a.ts": 'const any = "any"\nexport const a = (b: unknown) => any' },
  },
  {
    name: "no default exports and no index.ts",
    check: rules.namelessExports,
    breaks: [
      { files: { "src/lib/a.ts": "export default 5" } },
      { files: { "src/lib/a.ts": "export default function a() {}" } },
      { files: { "src/lib/a.ts": "const a = 1\nexport { a as default }" } },
      { files: { "src/chats/index.ts": NOTHING } },
    ],
    keeps: { "src/lib/a.ts": 'import sql from "./a.sql"\nswitch (1) { default: }' },
  },
  {
    name: "no state at the top of a module",
    check: (tree) => rules.moduleState(tree, STATE_HOMES),
    breaks: [
      { files: { "src/lib/a.ts": "let count = 0" } },
      { files: { "src/lib/a.ts": "export const seen = new Set<string>()" } },
      { files: { "src/lib/a.ts": "const queue = [] as string[]\nconst cache = {}" }, times: 2 },
    ],
    keeps: {
      "src/lib/a.ts": `const KNOWN = new Set(["a"])
        const NONE: readonly string[] = []
        export function count() { let n = 0; return () => ++n }`,
    },
  },
  {
    name: `files have at most ${FILE_LINES_MAX} lines`,
    check: (tree) => rules.longFiles(tree, FILE_LINES_MAX),
    breaks: [{ files: { "src/lib/a.ts": "//\n".repeat(FILE_LINES_MAX + 1) } }],
    keeps: { "src/lib/a.ts": "//\n".repeat(FILE_LINES_MAX) },
  },
  {
    name: `functions have at most ${FUNCTION_LINES_MAX} lines, or stand in a list with a reason`,
    check: (tree) => rules.longFunctions(tree, FUNCTION_LINES_MAX, LONG_FUNCTIONS),
    breaks: [
      { files: { "src/lib/a.ts": `function a() {${"\n".repeat(FUNCTION_LINES_MAX)}}` } },
      { files: { "src/lib/a.ts": `const a = () => {${"\n".repeat(FUNCTION_LINES_MAX)}}` } },
      { files: { "src/lib/a.ts": `class A { m() {${"\n".repeat(FUNCTION_LINES_MAX)}} }` } },
    ],
    keeps: { "src/lib/a.ts": `function a() {${"\n".repeat(FUNCTION_LINES_MAX - 1)}}` },
  },
  {
    name: "every file is used",
    check: (tree) => rules.deadFiles(tree, ENTRIES),
    breaks: [
      { files: { "src/main.ts": NOTHING, "src/lib/old.ts": NOTHING } },
      { files: { "src/main.ts": NOTHING, "src/store/migrations/0009_lost.sql": "" } },
    ],
    keeps: {
      "src/main.ts": 'await import("./cli/a.ts")',
      "src/cli/a.ts": 'import text from "./help.txt"',
      "src/cli/help.txt": "",
    },
  },
  {
    name: "the SDK stands on the contracts alone",
    check: (tree) => rules.wrongGuests(tree, "sdk/", SDK_GUESTS),
    breaks: [
      { files: { "sdk/client.ts": 'import "../src/lib/sse.ts"' } },
      { files: { "sdk/client.ts": 'import { OpenAI } from "openai"' } },
    ],
    keeps: { "sdk/client.ts": 'import "../src/schema/chat.ts"\nimport "./frames.ts"' },
  },
  {
    name: "plugins stand on the SDK alone",
    check: (tree) => rules.wrongGuests(tree, "plugins/", PLUGIN_GUESTS),
    breaks: [{ files: { "plugins/echo/main.ts": 'import "../../src/schema/chat.ts"' } }],
    keeps: { "plugins/echo/main.ts": 'import "../../sdk/module.ts"\nimport "node:fs"' },
  },
]

describe("the sources", () => {
  let tree: SourceTree
  beforeAll(async () => {
    tree = await readTree(ROOT, ["src", "sdk", "plugins"])
  })
  for (const rule of RULES) test(rule.name, () => expect(rule.check(tree)).toEqual([]))
})

test("every dependency has a reason in docs/dependencies.md, and no reason outlives it", () => {
  const page = readFileSync(join(ROOT, "docs/dependencies.md"), "utf8")
  const explained = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1])
  const used = Object.keys({ ...packageJson.dependencies, ...packageJson.devDependencies })
  expect(explained.sort()).toEqual(used.sort())
})

describe("the rules can fail", () => {
  for (const { name, check, breaks, keeps } of RULES)
    test(name, async () => {
      const [right, ...wrong] = await parseTrees([keeps, ...breaks.map(({ files }) => files)])
      expect(check(right!)).toEqual([])
      for (const [index, { files, times = 1 }] of breaks.entries())
        expect([files, check(wrong[index]!).length]).toEqual([files, times])
    })
  test("an exception that no function needs is named", async () => {
    const tree = await parseTree({ "src/lib/a.ts": "function a() {\n\n\n}" })
    expect(rules.longFunctions(tree, 2, { "src/lib/a.ts a": 4 })).toEqual([])
    expect(rules.longFunctions(tree, 2, { "src/lib/a.ts a": 3 })).toEqual([
      "src/lib/a.ts a has 4 lines",
    ])
    expect(rules.longFunctions(tree, 9, { "src/lib/a.ts a": 4 })).toEqual([
      "src/lib/a.ts a needs no exception any more",
    ])
  })
})
