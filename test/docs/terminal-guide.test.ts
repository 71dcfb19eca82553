/** The guide through the terminal has the keys and commands of the program: `bun scripts/screen-capture.ts`. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { COMMANDS } from "../../src/cli/chat/screen/commands.ts"
import { KEY_HELP } from "../../src/cli/chat/screen/keys.ts"

const guide = await Bun.file(join(import.meta.dir, "../../docs/terminal.md")).text()

/** The rows of the table between two marks, without its head. */
function rows(mark: string): string[] {
  const [, block = ""] = guide.split(`<!-- ${mark} -->`)
  const [inside = ""] = block.split(`<!-- /${mark} -->`)
  return inside.trim().split("\n").slice(2)
}

test("every key is in the guide, and no other", () => {
  expect(rows("keys")).toEqual(KEY_HELP.map(({ keys, about }) => `| ${keys} | ${about} |`))
})

test("every command is in the guide, and no other", () => {
  expect(rows("commands")).toEqual(
    COMMANDS.map(
      ({ name, argument, about }) => `| \`/${name}${argument ? ` ${argument}` : ""}\` | ${about} |`,
    ),
  )
})
