/** `eva-kernel init` without questions: what a machine gets, and what a second run leaves alone. */
import { expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import { hasFakeLlm, startFakeLlm } from "../../support/fake-llm.ts"
import { emptyHome, type Home, runProgram } from "../program.ts"

// Children of a busy machine may take their time.
setDefaultTimeout(60_000)

const MOCK = { EVA_LLM__PROVIDER: "mock" }
const modeOf = (path: string): number => statSync(path).mode & 0o777
const read = (path: string): string => readFileSync(path, "utf8")

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

test("an empty home gets two private files that load, a token, and three commands to go on with", async () => {
  using home = emptyHome(MOCK)
  const { code, out, err } = await runProgram(home, ["init", "--yes"])
  expect({ code, err }).toEqual({ code: 0, err: "" })
  expect(out).toContain("mock answered in ")
  expect(out).toContain(`Wrote ${home.config}\nWrote ${home.secrets}\nNext:\n`)
  expect(out.match(/ (chat|serve|config check)\n/g)).toEqual([
    " chat\n",
    " serve\n",
    " config check\n",
  ])

  expect([modeOf(home.config), modeOf(home.secrets), modeOf(dirname(home.config))]).toEqual([
    0o600, 0o600, 0o700,
  ])
  expect(parse(read(home.config)).db.path).toBe(join(home.dir, "data/eva-kernel/eva.db"))
  expect(parse(read(home.secrets)).server.token).toMatch(/^[\w-]{43}$/)
  expect(await runProgram(home, ["config", "check"])).toEqual({
    code: 0,
    out: `ok: ${home.config}, ${home.secrets}, EVA_LLM__PROVIDER\n`,
    err: "",
  })
})

test("what it wrote is all that chat needs to answer", async () => {
  using home = emptyHome(MOCK)
  await runProgram(home, ["init", "--yes"])
  delete home.environment.EVA_LLM__PROVIDER
  const { code, out } = await runProgram(home, ["chat", "-p", "hi"])
  expect({ code, out }).toEqual({ code: 0, out: "hi\n" })
})

test("a second run changes no byte", async () => {
  using home = emptyHome(MOCK)
  await runProgram(home, ["init", "--yes"])
  const before = [read(home.config), read(home.secrets)]
  const { code, out } = await runProgram(home, ["init", "--yes"])
  expect(code).toBe(0)
  expect(out).toContain(`Kept ${home.config}\nKept ${home.secrets}\n`)
  expect([read(home.config), read(home.secrets)]).toEqual(before)
  expect(readdirSync(dirname(home.config)).sort()).toEqual(["config.yaml", "secrets.yaml"])
})

test("what a person wrote stays, with its comments; what is missing is added beside a copy", async () => {
  using home = emptyHome(MOCK)
  const written =
    "# mine\nserver: { listen: '127.0.0.1:9999' } # my port\nllm:\n  # half done\n  max_tokens: 77\n"
  put(home.config, written)
  put(home.secrets, "server:\n  token: my own token # known to my phone\n")
  chmodSync(home.secrets, 0o644)

  const { code, out } = await runProgram(home, ["init", "--yes"])
  expect(code).toBe(0)
  expect(out).toContain(
    `Set db, llm.provider, llm.model, llm.models in ${home.config}; the old one is ${home.config}.bak\nKept ${home.secrets}\n`,
  )
  expect(read(`${home.config}.bak`)).toBe(written)
  const text = read(home.config)
  for (const words of ["# mine", "# my port", "# half done"]) expect(text).toContain(words)
  expect(parse(text)).toMatchObject({
    server: { listen: "127.0.0.1:9999" },
    llm: { max_tokens: 77, provider: "mock", model: { general: "mock" } },
  })
  expect(read(home.secrets)).toBe("server:\n  token: my own token # known to my phone\n")
  expect(modeOf(home.secrets)).toBe(0o600)
})

test("a link to a file that is kept elsewhere stays a link", async () => {
  using home = emptyHome(MOCK)
  const real = join(home.dir, "dotfiles.yaml")
  put(real, "db: {}\n")
  mkdirSync(dirname(home.config), { recursive: true })
  symlinkSync(real, home.config)
  expect((await runProgram(home, ["init", "--yes"])).code).toBe(0)
  expect(parse(read(real)).llm.provider).toBe("mock")
  expect(existsSync(`${real}.bak`)).toBe(true)
})

test("--config names another file, and the commands that follow carry both", async () => {
  using home = emptyHome(MOCK)
  const { code, out } = await runProgram(home, [
    "init",
    "--yes",
    "--config",
    "here/eva.yml",
    "--no-call",
  ])
  expect(code).toBe(0)
  const folder = join(home.dir, "work/here")
  expect(readdirSync(folder).sort()).toEqual(["eva.yml", "secrets.yaml"])
  expect(out).toContain(`chat --config ${folder}/eva.yml --config ${folder}/secrets.yaml\n`)
  expect(out).not.toContain("answered")
  expect(existsSync(home.config)).toBe(false)
})

interface Wrong {
  what: string
  prepare?: (home: Home) => void
  args?: string[]
  line: string
}

test.each<Wrong>([
  {
    what: "a file that is no YAML",
    prepare: ({ config }) => put(config, "server: [\n"),
    line: "config.yaml: ",
  },
  {
    what: "a file that is no mapping",
    prepare: ({ config }) => put(config, "- 1\n"),
    line: "config.yaml: expected a mapping",
  },
  {
    what: "a setting that does not exist",
    prepare: ({ config }) => put(config, "server: { lisen: x }\ndb: {}\nllm: { provider: mock }\n"),
    line: "server.lisen: there is no such key; did you mean listen?",
  },
  {
    what: "a folder in its place",
    prepare: ({ config }) => void mkdirSync(config, { recursive: true }),
    line: "cannot read ",
  },
  {
    what: "a name of another format",
    args: ["--config", "eva.toml"],
    line: "init writes YAML, so eva.toml must end in .yaml",
  },
  {
    what: "the name of the secrets",
    args: ["--config", "secrets.yaml"],
    line: "secrets.yaml is where init keeps the secrets",
  },
])(
  "$what is answered with one line and exit code 2, and nothing is written",
  async ({ prepare, args = [], line }) => {
    using home = emptyHome(MOCK)
    prepare?.(home)
    const before = readdirSync(home.dir, { recursive: true }).sort()
    const { code, out, err } = await runProgram(home, ["init", "--yes", ...args])
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toStartWith("eva-kernel: ")
    expect(err).toContain(line)
    expect(readdirSync(home.dir, { recursive: true }).sort()).toEqual(before)
  },
)

test("without a terminal and without --yes nothing is asked of nobody", async () => {
  using home = emptyHome(MOCK)
  expect(await runProgram(home, ["init"])).toEqual({
    code: 2,
    out: "",
    err: "eva-kernel: init asks questions and needs a terminal; eva-kernel init --yes asks none\n",
  })
})

test("a folder that cannot be written to is named", async () => {
  using home = emptyHome({ ...MOCK, XDG_CONFIG_HOME: "/proc/nowhere" })
  const { code, err } = await runProgram(home, ["init", "--yes"])
  expect(code).toBe(2)
  expect(err).toContain("cannot write /proc/nowhere/eva-kernel/config.yaml: ")
})

test.skipIf(!hasFakeLlm())(
  "a key of the environment is tried and kept in the secrets alone",
  async () => {
    const upstream = await startFakeLlm()
    using home = emptyHome({ ANTHROPIC_API_KEY: "sk-ant-hidden", EVA_LLM__BASE_URL: upstream.url })
    try {
      const { code, out, err } = await runProgram(home, ["init", "--yes"])
      expect({ code, err }).toEqual({ code: 0, err: "" })
      expect(out).toContain("Anthropic (ANTHROPIC_API_KEY was set)")
      expect(out).toContain("It holds 1,000,000 tokens, from Anthropic's page of models")
      expect(out + read(home.config)).not.toContain("hidden")
      expect(parse(read(home.secrets)).llm.api_key).toBe("sk-ant-hidden")
      expect(parse(read(home.config)).llm).toMatchObject({
        provider: "anthropic",
        models: [{ context_window: 1_000_000, price_in: 2 }],
      })
      expect((await upstream.log()).length).toBe(1)
    } finally {
      await upstream.stop()
    }
  },
)

test("a model that does not answer leaves the files, a warning and exit code 1", async () => {
  using home = emptyHome({ ANTHROPIC_API_KEY: "k", EVA_LLM__BASE_URL: "http://127.0.0.1:1" })
  const { code, out, err } = await runProgram(home, ["init", "--yes"])
  expect(code).toBe(1)
  expect(err).toMatch(/^warning: claude-sonnet-5-5 did not answer: .+\n$/)
  expect(out).toContain(`Wrote ${home.config}\n`)
})

test.skipIf(process.platform !== "linux")(
  "--service writes a unit that serves with these very files, once",
  async () => {
    using home = emptyHome(MOCK)
    const unit = join(home.dir, "config/systemd/user/eva-kernel.service")
    const { out } = await runProgram(home, ["init", "--yes", "--service"])
    expect(out).toContain(`Wrote ${unit}\n`)
    expect(out).toContain("  systemctl --user enable --now eva-kernel\n")
    expect(read(unit)).toContain(` serve --config ${home.config} --config ${home.secrets}\n`)
    expect((await runProgram(home, ["init", "--yes", "--service"])).out).toContain(`Kept ${unit}\n`)

    writeFileSync(unit, "[Service]\n# mine\n")
    const { code, err } = await runProgram(home, ["init", "--yes", "--service"])
    expect({ code, err }).toEqual({
      code: 0,
      err: `warning: ${unit} is another one, so it was left as it is\n`,
    })
    expect(read(unit)).toBe("[Service]\n# mine\n")
  },
)
