/** However the client ends, the terminal is as it was before, and the exit code says how it ended. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { type Emulated, emulatedTerminal, type Modes } from "../../support/emulated-terminal.ts"
import { clientEnvironment, createStage, KEY, MAIN, type Stage, timesIn } from "./support.ts"

const PLAIN: Modes = {
  alternateScreen: false,
  bracketedPaste: false,
  mouse: "none",
  cursorHidden: false,
}

let stage: Stage
let client: Emulated
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())
afterEach(() => client.dispose())

/** The keyboard protocol that was asked for is given back. */
const keyboardIsPlain = (): boolean =>
  timesIn(client.raw(), "\x1b[>7u") === timesIn(client.raw(), "\x1b[<u")

const LEAVINGS: Record<string, { keys: string; code: number }> = {
  "/quit": { keys: `/quit${KEY.enter}`, code: 0 },
  "Ctrl+C twice": { keys: KEY.ctrl("c") + KEY.ctrl("c"), code: 0 },
  "Ctrl+D in an empty input": { keys: KEY.ctrl("d"), code: 0 },
}
for (const [name, { keys, code }] of Object.entries(LEAVINGS))
  test(`${name} leaves with ${code} and a plain terminal`, async () => {
    client = await stage.open({ args: ["--new"] })
    expect(client.modes()).toMatchObject({ alternateScreen: true, bracketedPaste: true })
    client.types(keys)
    expect(await client.exited).toBe(code)
    expect(client.modes()).toEqual(PLAIN)
    expect(keyboardIsPlain()).toBe(true)
    expect(client.screen()).toBe("")
  })

for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)
  test(`${signal} ends it with ${code} and a plain terminal, even in the middle of an answer`, async () => {
    client = await stage.open({ args: ["--new"] })
    client.types(`talk${KEY.enter}`)
    const answer = await stage.model.asked()
    answer.say("Talking")
    await client.sees("Talking")
    client.signal(signal)
    expect(await client.exited).toBe(code)
    expect(client.modes()).toEqual(PLAIN)
    expect(keyboardIsPlain()).toBe(true)
    answer.end()
  })

test("Ctrl+C does not leave when something was typed since the first one", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`${KEY.ctrl("c")}words${KEY.ctrl("c")}more`)
  await client.sees(/─\n more\n─/)
  client.types(KEY.ctrl("c") + KEY.ctrl("c"))
  expect(await client.exited).toBe(0)
})

test("a terminal that goes away ends the client", async () => {
  client = await stage.open({ args: ["--new"] })
  client.hangUp()
  expect(await client.exited).toBe(129)
})

for (const where of ["timer", "draw", "rejection"])
  test(`a fault of the client (${where}) is told on a plain terminal, with exit code 1`, async () => {
    const home = stage.home()
    client = emulatedTerminal({
      command: [process.execPath, join(import.meta.dir, "../../support/faulty-screen.ts"), where],
      cwd: home,
      env: clientEnvironment(home),
    })
    await client.sees("Type a message.")
    client.types(`go${KEY.enter}`)
    expect(await client.exited).toBe(1)
    expect(client.modes()).toEqual(PLAIN)
    expect(client.screen()).toContain("planted fault")
  })

test("Ctrl+Z gives the terminal to the shell, fg brings the conversation back", async () => {
  const home = stage.home()
  client = emulatedTerminal({
    command: ["bash", "--norc", "-i"],
    cwd: home,
    env: { ...clientEnvironment(home), PS1: "shell> " },
  })
  await client.sees("shell>")
  client.types(`${process.execPath} ${MAIN} chat --new --url ${stage.kernel.url}\n`)
  await client.sees("Type a message.")
  client.types(KEY.ctrl("z"))
  await client.sees("Stopped")
  expect(client.modes()).toEqual({ ...PLAIN, bracketedPaste: client.modes().bracketedPaste })
  client.types("fg\n")
  await client.sees("Type a message.")
  client.types(`hello${KEY.enter}`)
  await stage.model.answers("Back again.")
  await client.sees("Back again.")
  client.types(KEY.ctrl("d"))
  await client.sees("shell>")
})

test("a terminal of 10 by 3 gets one line and exit code 2", async () => {
  client = stage.start({ columns: 10, rows: 3 })
  expect(await client.exited).toBe(2)
  expect(client.raw()).toBe("eva-kernel: terminal too small: 10×3, needs 20×8\r\n")
})

test("a terminal that knows no screen gets one line and exit code 2", async () => {
  client = stage.start({ env: { TERM: "dumb" } })
  expect(await client.exited).toBe(2)
  expect(client.raw()).toBe(
    'eva-kernel: TERM=dumb knows no screen: give what to say with -p "TEXT"\r\n',
  )
})
