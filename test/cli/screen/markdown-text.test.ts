/** Long Markdown is drawn in parts: nobody may see where, and nobody may wait for it. */
import { expect, test } from "bun:test"
import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui"
import { createHighlight } from "../../../src/cli/chat/screen/highlight.ts"
import { createMarkdownText } from "../../../src/cli/chat/screen/markdown-text.ts"
import { createTheme, markdownTheme } from "../../../src/cli/chat/screen/theme.ts"

const WIDTH = 60
const theme = createTheme(true)
const coloured: MarkdownTheme = markdownTheme(theme, createHighlight(theme))

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n")

/** Texts longer than several parts. */
const TEXTS: Record<string, string> = {
  "paragraphs and headings": lines(120, (n) =>
    n % 10 === 0 ? `\n## Part ${n}\n` : `Words of paragraph **${n}** that go on and on \`${n}\`.\n`,
  ),
  "one paragraph of many lines": lines(400, (n) => `line ${n} of a paragraph without any gap`),
  "a tight list": lines(400, (n) => `- item ${n} of a *list*\n  - and one below it`),
  "a numbered list": lines(400, (n) => `${n + 1}. item ${n}`),
  "a loose list": lines(200, (n) => `- item ${n}\n\n  with a second paragraph\n`),
  "quotes and tables": lines(
    60,
    (n) => `> quoted ${n}\n> again\n\n| a | b |\n| - | - |\n| ${n} | x |\n`,
  ),
  "blocks of code": lines(
    80,
    (n) => `Look at ${n}:\n\n\`\`\`ts\nconst a${n} = "x"\n\n  let b\n\`\`\`\n`,
  ),
  "one long block of code": `Here:\n\n\`\`\`ts\n${lines(1500, (n) => `  const a${n} = "x" // note`)}\n\`\`\`\n\nThe end.`,
  "code that ends with the text": `~~~~py\n${lines(1500, (n) => `def a${n}(): return "x"`)}`,
}

const whole = (text: string): string[] =>
  [...new Markdown(text.trim(), 0, 0, coloured).render(WIDTH)].map((line) => line.trimEnd())

for (const [name, text] of Object.entries(TEXTS))
  test(`${name}: drawn in parts as it grows, it looks as if drawn at once`, () => {
    const draw = createMarkdownText(coloured)
    let shown: string[] = []
    for (let end = 0; end < text.length; end += 997) shown = draw(text.slice(0, end), WIDTH)
    shown = draw(text, WIDTH)
    expect(shown.map((line) => line.trimEnd())).toEqual(whole(text))
    expect(createMarkdownText(coloured)(text, WIDTH)).toEqual(shown)
  })

test("another width and another text are drawn anew", () => {
  const draw = createMarkdownText(coloured)
  const text = TEXTS["paragraphs and headings"]!
  draw(text, WIDTH)
  expect(draw(text, 30)).toEqual(createMarkdownText(coloured)(text, 30))
  expect(draw("short", 30).map((line) => line.trimEnd())).toEqual(["short"])
})

test("a line without end is wrapped as it is", () => {
  const draw = createMarkdownText(coloured)
  const text = `Before.\n\n${"word ".repeat(10_000)}\n\nAfter *it*.`
  const shown = draw(text, 50).map((line) => line.trimEnd())
  expect(shown.slice(0, 3)).toEqual(["Before.", "", "word ".repeat(10).trim()])
  expect(shown.at(-1)).toContain("it")
  expect(shown).toHaveLength(1000 + 4)
})
