import { expect, test } from "bun:test"
import { join } from "node:path"
import { parse } from "yaml"
import { configExample } from "../../src/config/example.ts"
import { configReference } from "../../src/config/reference.ts"
import { configFolder, MINIMAL } from "../config/support.ts"

const COMMAND = join(import.meta.dir, "../../src/cli/config.ts")

/** Runs the command in a process of its own, as main.ts does. */
async function run(cwd: string, args: string[], env: Record<string, string> = {}) {
  const script = `import { runConfigCommand } from ${JSON.stringify(COMMAND)}
process.exitCode = await runConfigCommand(${JSON.stringify(args)})`
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: cwd, ...env },
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

test("BOOT-003: config prints what several -c and --config files and the environment make together", async () => {
  using folder = configFolder({
    "config.yaml": MINIMAL,
    "secret.toml": '[server]\ntoken = "very-secret-token"\n',
  })
  const { out, err, code } = await run(
    folder.dir,
    ["-c", "config.yaml", "--config", "secret.toml"],
    { EVA_CHATS__MAX_AGENTS: "7" },
  )
  expect(code).toBe(0)
  expect(parse(out)).toMatchObject({
    server: { token: "[redacted]", drain: "2m" },
    chats: { max_agents: 7 },
  })
  expect(err).toStartWith("warning: llm.models is empty")
  expect(out + err).not.toContain("very-secret-token")
})

test("config check says ok, or every error with exit code 2", async () => {
  using folder = configFolder({ "good.yaml": MINIMAL, "bad.yaml": "server: { lisen: x }\n" })
  const good = await run(folder.dir, ["check", "-c", "good.yaml"])
  expect([good.code, good.out]).toEqual([0, "ok: good.yaml\n"])
  const bad = await run(folder.dir, ["check", "-c", "good.yaml", "-c", "bad.yaml"])
  expect([bad.code, bad.out]).toEqual([2, ""])
  expect(bad.err).toBe("server.lisen: there is no such key; did you mean listen? (bad.yaml)\n")
})

test("config example and config reference print what is generated; wrong arguments end with exit code 2", async () => {
  using folder = configFolder()
  expect(await run(folder.dir, ["example"])).toEqual({ out: configExample(), err: "", code: 0 })
  expect(await run(folder.dir, ["reference"])).toEqual({ out: configReference(), err: "", code: 0 })
  for (const args of [["chek"], ["check", "more"], ["--konfig", "x"], ["--config"]]) {
    const { code, out, err } = await run(folder.dir, args)
    expect([code, out]).toEqual([2, ""])
    expect(err).not.toBe("")
  }
})

test("without a file config shows the defaults and says which provider was taken and why", async () => {
  using folder = configFolder()
  const { out, err, code } = await run(folder.dir, [], {
    ANTHROPIC_API_KEY: "sk-ant-not-to-be-shown",
  })
  expect(code).toBe(0)
  expect(err).toBe("no configuration file: provider Anthropic, because ANTHROPIC_API_KEY is set\n")
  expect(parse(out)).toMatchObject({ llm: { provider: "anthropic", api_key: "[redacted]" } })
  expect(out).not.toContain("not-to-be-shown")
})
