/**
 * `bun scripts/screen-capture.ts [--print]`: writes the tables and the screen of docs/terminal.md. The tables
 * are those of the program; the screen is a real client on a real kernel, seen through a terminal emulator.
 * Only the words of the model are given here. `--print` shows the screen and writes nothing.
 */
import { join } from "node:path"
import { COMMANDS } from "../src/cli/chat/screen/commands.ts"
import { KEY_HELP } from "../src/cli/chat/screen/keys.ts"
import { type Emulated, emulatedTerminal } from "../test/support/emulated-terminal.ts"
import { type PuppetModel, puppetModel } from "../test/support/puppet-model.ts"
import { CONFIG, createPlace, type Place, serve } from "../test/support/served.ts"

const ROOT = join(import.meta.dir, "..")
const GUIDE = join(ROOT, "docs/terminal.md")
const COLUMNS = 76
const ROWS = 32

const QUESTION = "Which of my notes are about the boat?"
const ANSWER = `Two of them:

| note | last words |
| --- | --- |
| \`hull.md\` | sanded, two coats left |
| \`rigging.md\` | order the halyard |

The coats take a day each:

\`\`\`ts
const days = coats.reduce((sum, coat) => sum + coat.days, 0)
\`\`\``

function prepare(place: Place, model: PuppetModel): void {
  place.write("config.json", {
    ...CONFIG,
    llm: {
      ...{ provider: "openai", base_url: model.url, api_key: "unused" },
      model: { general: "demo" },
      models: [{ name: "demo", context_window: 200_000, price_in: 2, price_out: 10 }],
    },
    log: { level: "error" },
    tools: { dir: "tools.d" },
  })
  const tool = `name = "list_notes"
description = "Lists notes."
command = ["printf", "%s\\\\n", "hull.md", "rigging.md", "taxes.md"]
`
  place.write("tools.d/list_notes.toml", tool)
}

/** A question, a tool step and an answer; a second answer that comes; a third question that waits. */
async function talk(client: Emulated, model: PuppetModel): Promise<void> {
  client.types(`${QUESTION}\r`)
  const step = await model.asked()
  step.think("The notes are files: list them first.")
  step.call("list_notes", {})
  step.end()
  const answer = await model.asked()
  answer.say(ANSWER)
  answer.end()
  // What it cost comes after the last word.
  await client.sees(/\$\d/)
  client.types("And what do I have to order?\r")
  const second = await model.asked()
  second.say("One halyard:")
  await client.sees("One halyard:")
  client.types("Is there a shop near the harbour?\r")
  await client.sees("1 queued")
}

async function capture(): Promise<string> {
  const place = createPlace()
  const model = puppetModel()
  prepare(place, model)
  const kernel = await serve({ place, args: ["serve", "--config", "config.json"] })
  const client = emulatedTerminal({
    command: [process.execPath, join(ROOT, "src/main.ts"), "chat", "--new", "--url", kernel.url],
    cwd: place.dir,
    env: { PATH: process.env.PATH ?? "", HOME: place.dir, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    ...{ columns: COLUMNS, rows: ROWS },
  })
  try {
    await client.sees("Type a message.")
    await talk(client, model)
    return client.screen()
  } finally {
    client.dispose()
    await kernel.kill()
    await model.stop()
    place.remove()
  }
}

const cell = (text: string): string => text.replaceAll("|", "\\|")

function table(head: [string, string], rows: readonly (readonly [string, string])[]): string {
  const lines = [head, ["---", "---"], ...rows].map(([a, b]) => `| ${cell(a!)} | ${cell(b!)} |`)
  return lines.join("\n")
}

const keyTable = (): string =>
  table(
    ["key", "what it does"],
    KEY_HELP.map(({ keys, about }) => [keys, about] as const),
  )

const commandTable = (): string =>
  table(
    ["command", "what it does"],
    COMMANDS.map(
      ({ name, argument, about }) =>
        [`\`/${name}${argument ? ` ${argument}` : ""}\``, about] as const,
    ),
  )

/** Replaces what stands between the two marks of a block. Throws when the guide has no such block. */
function filled(guide: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [guide.indexOf(begin), guide.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/terminal.md has no block ${begin} … ${end}`)
  return `${guide.slice(0, from)}${begin}\n\n${content}\n\n${guide.slice(to)}`
}

const screen = await capture()
if (process.argv.includes("--print")) process.stdout.write(`${screen}\n`)
else {
  const blocks = {
    screen: `\`\`\`\`text\n${screen}\n\`\`\`\``,
    keys: keyTable(),
    commands: commandTable(),
  }
  const guide = Object.entries(blocks).reduce(
    (text, [name, content]) => filled(text, name, content),
    await Bun.file(GUIDE).text(),
  )
  await Bun.write(GUIDE, guide)
}
