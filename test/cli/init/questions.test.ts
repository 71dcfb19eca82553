/** `eva-kernel init` on a real terminal, with the keys that a person would press. */
import { expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { parse } from "yaml"
import { emptyHome, runOnTerminal, runProgram } from "../program.ts"
import { localServer } from "./local-server.ts"

// Children of a busy machine may take their time.
setDefaultTimeout(60_000)

const ENTER = "\r"
const DOWN = "\u001b[B"
const UP = "\u001b[A"
const CTRL_C = "\u0003"
const read = (path: string): unknown => parse(readFileSync(path, "utf8"))

/** A small window, so that the warning is seen too. */
const SERVER = {
  models: [{ id: "first" }, { id: "second" }],
  pages: { "/props": { default_generation_settings: { n_ctx: 8192 } } },
}

test("a server that has to be named: address, key, model, its real window, two files", async () => {
  using server = localServer({ ...SERVER, key: "open sesame" })
  using home = emptyHome()
  const terminal = runOnTerminal(home, ["init"])
  await terminal.sees("Which model shall answer?")
  // From the first line upward: the mock is last, the named server before it.
  terminal.types(UP + UP + ENTER)
  await terminal.sees("Its address")
  terminal.types(`nonsense${ENTER}`)
  await terminal.sees("an address begins with http://")
  terminal.types("\u0015" + server.baseUrl + ENTER)
  await terminal.sees("Its key")
  terminal.types(`open sesame${ENTER}`)
  await terminal.sees("Which model of")
  terminal.types(DOWN + ENTER)
  await terminal.sees("second answered in")
  await terminal.sees("It holds 8,192 tokens")
  await terminal.sees("That is little for an agent")
  await answerService(terminal)
  await terminal.sees("Next:")
  expect(await terminal.exited).toBe(0)

  expect(terminal.shown()).not.toContain("open sesame")
  expect(server.keys).toEqual(["Bearer open sesame"])
  expect(read(home.secrets)).toMatchObject({ llm: { api_key: "open sesame" } })
  expect(read(home.config)).toMatchObject({
    llm: {
      provider: "openai",
      base_url: server.baseUrl,
      model: { general: "second" },
      models: [{ name: "second", context_window: 8192, price_in: 0 }],
    },
  })
})

test("Ctrl-C at a question writes nothing and ends with 130", async () => {
  using home = emptyHome()
  const terminal = runOnTerminal(home, ["init"])
  await terminal.sees("Which model shall answer?")
  terminal.types(CTRL_C)
  expect(await terminal.exited).toBe(130)
  expect(terminal.shown()).toContain("given up, and nothing was written")
  expect(existsSync(home.config)).toBe(false)
})

test("Ctrl-C at the last question leaves the files of before as they were", async () => {
  using home = emptyHome({ EVA_LLM__PROVIDER: "mock" })
  mkdirSync(dirname(home.config), { recursive: true })
  writeFileSync(home.config, "# mine\n")
  writeFileSync(home.secrets, "# mine too\n")
  const terminal = runOnTerminal(home, ["init"])
  await terminal.sees("Which model shall answer?")
  terminal.types(ENTER)
  await terminal.sees("Change server, db, llm in")
  terminal.types(ENTER)
  await terminal.sees("Change server.token in")
  terminal.types(CTRL_C)
  expect(await terminal.exited).toBe(130)
  expect(readFileSync(home.config, "utf8")).toBe("# mine\n")
  expect(readdirSync(dirname(home.config)).sort()).toEqual(["config.yaml", "secrets.yaml"])
})

test("another model replaces the old one and its key, after a question, beside copies", async () => {
  using server = localServer(SERVER)
  using home = emptyHome({ ANTHROPIC_API_KEY: "sk-ant-old", EVA_SERVER__DRAIN: "5s" })
  await runProgram(home, ["init", "--yes", "--no-call"])
  expect(read(home.secrets)).toMatchObject({ llm: { api_key: "sk-ant-old" } })

  const terminal = runOnTerminal(home, ["init"])
  await terminal.sees("There is a configuration already.")
  terminal.types(DOWN + ENTER)
  await terminal.sees("Which model shall answer?")
  terminal.types(UP + UP + ENTER)
  await terminal.sees("Its address")
  terminal.types(server.baseUrl + ENTER)
  await terminal.sees("Does it want a key?")
  terminal.types(ENTER)
  await terminal.sees("Which model of")
  terminal.types(ENTER)
  await terminal.sees("first answered in")
  await terminal.sees("Change llm in")
  terminal.types(ENTER)
  await terminal.sees("Change llm.api_key in")
  terminal.types(ENTER)
  await answerService(terminal)
  await terminal.sees("Next:")
  expect(await terminal.exited).toBe(0)

  // The key of the old provider must not travel to the new one.
  expect(server.keys).toEqual([null])
  expect(JSON.stringify(read(home.secrets))).not.toContain("sk-ant-old")
  expect(read(home.config)).toMatchObject({ llm: { model: { general: "first" } } })
  expect(readdirSync(dirname(home.config)).sort()).toEqual([
    "config.yaml",
    "config.yaml.bak",
    "secrets.yaml",
    "secrets.yaml.bak",
  ])
})

/** Where a service manager runs, init offers a unit. */
async function answerService(terminal: ReturnType<typeof runOnTerminal>): Promise<void> {
  if (!existsSync("/run/systemd/system") && process.platform !== "darwin") return
  await terminal.sees("Keep the kernel running")
  terminal.types(`n${ENTER}`)
}
