/**
 * Code to coloured lines. highlight.js knows how to read a language and gives HTML; its few spans become
 * the terminal's colours here. The core with a dozen languages is loaded, not all two hundred.
 */
import hljs from "highlight.js/lib/core"
import bash from "highlight.js/lib/languages/bash"
import cpp from "highlight.js/lib/languages/cpp"
import css from "highlight.js/lib/languages/css"
import diff from "highlight.js/lib/languages/diff"
import go from "highlight.js/lib/languages/go"
import ini from "highlight.js/lib/languages/ini"
import java from "highlight.js/lib/languages/java"
import json from "highlight.js/lib/languages/json"
import markdown from "highlight.js/lib/languages/markdown"
import nix from "highlight.js/lib/languages/nix"
import python from "highlight.js/lib/languages/python"
import rust from "highlight.js/lib/languages/rust"
import sql from "highlight.js/lib/languages/sql"
import typescript from "highlight.js/lib/languages/typescript"
import xml from "highlight.js/lib/languages/xml"
import yaml from "highlight.js/lib/languages/yaml"
import type { Style, Theme } from "./theme.ts"

const LANGUAGES = {
  ...{ bash, cpp, css, diff, go, ini, java, json, markdown, nix },
  ...{ python, rust, sql, typescript, xml, yaml },
}

/** TypeScript's grammar reads JavaScript, and the shells are one family. */
const OTHER_NAMES: Record<string, string[]> = {
  typescript: ["js", "javascript", "jsx", "tsx", "mjs", "cjs"],
  cpp: ["c", "h"],
  bash: ["console", "shell", "fish"],
  json: ["jsonl"],
}

/** Longer code is shown plain: nobody waits for its colours. */
const HIGHLIGHT_CHARS_MAX = 50_000

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
}

export type Highlight = (code: string, language?: string) => string[]

/** Lines of code with colours; code in an unknown language, or too much of it, comes back as it is. */
export function createHighlight(theme: Theme): Highlight {
  const reader = hljs.newInstance()
  for (const [name, language] of Object.entries(LANGUAGES)) reader.registerLanguage(name, language)
  for (const [languageName, names] of Object.entries(OTHER_NAMES))
    reader.registerAliases(names, { languageName })

  return (code, language) => {
    const known = language !== undefined && reader.getLanguage(language) !== undefined
    if (!known || !theme.colour || code.length > HIGHLIGHT_CHARS_MAX) return code.split("\n")
    const { value } = reader.highlight(code, { language, ignoreIllegals: true })
    return colourLines(value, theme)
  }
}

/** Each line gets its own colours, opened and closed, since lines are drawn one by one. */
function colourLines(html: string, theme: Theme): string[] {
  const open: (Style | undefined)[] = []
  const lines: string[] = [""]
  for (const [part] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (part === "</span>") open.pop()
    else if (part.startsWith("<span")) open.push(styleOf(part, theme))
    else {
      const style = open.findLast((one) => one !== undefined) ?? ((text: string) => text)
      const [first = "", ...rest] = plainText(part).split("\n")
      lines[lines.length - 1] += style(first)
      for (const line of rest) lines.push(style(line))
    }
  }
  return lines
}

/** `<span class="hljs-title function_">` → the style of `title`. */
const styleOf = (span: string, theme: Theme): Style | undefined =>
  theme.code[/hljs-([a-z_]+)/.exec(span)?.[1] ?? ""]

const plainText = (html: string): string =>
  html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity)
