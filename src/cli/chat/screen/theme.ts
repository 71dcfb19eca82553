/**
 * Colours and attributes of the screen: the terminal's own sixteen colours, so that every scheme, ssh and
 * tmux show what their owner chose. Without colour, bold, dim and underline carry the same meaning.
 */
import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@earendil-works/pi-tui"

export type Style = (text: string) => string

export interface Theme {
  colour: boolean
  bold: Style
  dim: Style
  italic: Style
  underline: Style
  inverse: Style
  accent: Style
  user: Style
  good: Style
  warn: Style
  bad: Style
  /** By the scopes of highlight.js; what is not named stays plain. */
  code: Readonly<Record<string, Style>>
}

/** The codes of https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters. */
const sgr =
  (on: number, off: number): Style =>
  (text) =>
    text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`

const plain: Style = (text) => text
const bold = sgr(1, 22)
const dim = sgr(2, 22)
const italic = sgr(3, 23)
const underline = sgr(4, 24)

/** @param colour false where NO_COLOR is set: https://no-color.org. */
export function createTheme(colour: boolean): Theme {
  const paint = (code: number): Style => (colour ? sgr(code, 39) : plain)
  const [red, green, yellow] = [paint(31), paint(32), paint(33)]
  const [blue, magenta, cyan] = [paint(34), paint(35), paint(36)]
  return {
    ...{ colour, bold, dim, italic, underline, inverse: sgr(7, 27) },
    accent: cyan,
    user: colour ? cyan : bold,
    good: green,
    warn: yellow,
    bad: colour ? red : bold,
    code: {
      ...{ keyword: magenta, literal: yellow, number: yellow, symbol: yellow },
      ...{ string: green, regexp: green, addition: green, deletion: red, variable: red },
      ...{ title: blue, function: blue, class: blue, name: blue, tag: blue, section: blue },
      ...{ type: cyan, built_in: cyan, attr: cyan, attribute: cyan, property: cyan },
      ...{ comment: dim, doctag: dim, meta: dim },
    },
  }
}

export const selectTheme = (theme: Theme): SelectListTheme => ({
  selectedPrefix: theme.accent,
  selectedText: (text) => theme.bold(theme.accent(text)),
  description: theme.dim,
  scrollInfo: theme.dim,
  noMatch: theme.dim,
})

export const editorTheme = (theme: Theme): EditorTheme => ({
  borderColor: theme.dim,
  selectList: selectTheme(theme),
})

export const markdownTheme = (
  theme: Theme,
  highlightCode: (code: string, language?: string) => string[],
): MarkdownTheme => ({
  heading: (text) => theme.bold(theme.accent(text)),
  link: underline,
  linkUrl: dim,
  code: theme.colour ? theme.accent : bold,
  codeBlock: plain,
  codeBlockBorder: dim,
  quote: italic,
  quoteBorder: dim,
  hr: dim,
  listBullet: theme.accent,
  bold,
  italic,
  strikethrough: sgr(9, 29),
  underline,
  highlightCode,
})
