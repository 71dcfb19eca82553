/** Writes the tags and words of a page as Markdown. */

export interface PageWriter {
  /** `href` is the absolute address of a link. */
  open(name: string, href: string | undefined): void
  text(text: string): void
  close(name: string): void
  result(): string
}

/** An empty line stands around these. */
const BLOCKS = new Set(
  "p div section article main header ul ol dl table pre blockquote figure figcaption details summary form fieldset hr h1 h2 h3 h4 h5 h6 address".split(
    " ",
  ),
)
/** Deeper lists are not set in further. */
const INDENTS_MAX = 8
/** These begin a line. */
const LINES = new Set(["li", "tr", "dt", "dd", "br"])
const HEADING = /^h([1-6])$/

interface Link {
  href: string | undefined
  /** Where its words begin. */
  start: number
}

interface OpenList {
  ordered: boolean
  count: number
}

export class MarkdownWriter implements PageWriter {
  readonly #out: string[] = []
  readonly #lists: OpenList[] = []
  #link: Link | undefined
  #pre = 0
  /** Line ends that are due before the next word. */
  #gap = 0
  #space = false

  open(name: string, href: string | undefined): void {
    const isInnerList = this.#lists.length > 0 && isList(name)
    if (BLOCKS.has(name)) this.#breakLine(isInnerList ? 1 : 2)
    else if (LINES.has(name)) this.#breakLine(1)
    const heading = HEADING.exec(name)?.[1]
    if (heading !== undefined) this.#put(`${"#".repeat(Number(heading))} `)
    if (isList(name)) this.#lists.push({ ordered: name === "ol", count: 0 })
    if (name === "li") this.#openItem()
    if (name === "hr") this.#put("---")
    if (name === "pre" && this.#pre++ === 0) this.#put("```\n")
    if (name === "a") this.#openLink(href)
  }

  text(text: string): void {
    if (this.#pre > 0) {
      this.#put(text)
      return
    }
    const words = text.replace(/\s+/g, " ").trim()
    if (words === "") {
      this.#space ||= text !== ""
      return
    }
    if (/^\s/.test(text)) this.#space = true
    // Behind the mark of a heading or an item there is a space already.
    if (this.#out.at(-1)?.endsWith(" ")) this.#space = false
    this.#put(words)
    this.#space = /\s$/.test(text)
  }

  close(name: string): void {
    if (name === "pre" && this.#pre > 0 && --this.#pre === 0) {
      this.#put(this.#out.at(-1)?.endsWith("\n") ? "```" : "\n```")
    }
    if (isList(name)) this.#lists.pop()
    if (name === "td" || name === "th") this.#closeCell()
    if (name === "a") this.#closeLink()
    if (BLOCKS.has(name)) this.#breakLine(2)
    else if (LINES.has(name)) this.#breakLine(1)
  }

  result(): string {
    const lines = this.#out.join("").split("\n").map(withoutEnd)
    return lines
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
  }

  #breakLine(lines: number): void {
    this.#gap = Math.max(this.#gap, lines)
    this.#space = false
  }

  #put(words: string): void {
    const isFirst = this.#out.length === 0
    if (this.#gap > 0 && !isFirst) this.#out.push("\n".repeat(this.#gap))
    else if (this.#space && !isFirst) this.#out.push(" ")
    this.#gap = 0
    this.#space = false
    this.#out.push(words)
  }

  #openItem(): void {
    const list = this.#lists.at(-1)
    if (list) list.count++
    const mark = list?.ordered ? `${list.count}. ` : "- "
    const depth = Math.min(this.#lists.length - 1, INDENTS_MAX)
    this.#put("  ".repeat(Math.max(0, depth)) + mark)
  }

  /** There is no link within a link: the next one ends the one before. */
  #openLink(href: string | undefined): void {
    this.#closeLink()
    this.#link = { href, start: this.#out.length }
  }

  /** A link without words is left out; so is the address where the words are it. */
  #closeLink(): void {
    const link = this.#link
    this.#link = undefined
    if (link?.href === undefined) return
    const inner = this.#out.slice(link.start).join("")
    const words = inner.trim()
    if (words === "" || words === link.href) return
    const lead = inner.slice(0, inner.length - inner.trimStart().length)
    this.#out.length = link.start
    this.#out.push(`${lead}[${words}](${link.href})`)
  }

  #closeCell(): void {
    this.#space = false
    if (this.#gap === 0) this.#put(" |")
    this.#space = true
  }
}

const isList = (name: string): boolean => name === "ul" || name === "ol"

/** Without spaces, and without the mark behind the last cell of a row. */
function withoutEnd(line: string): string {
  const text = line.trimEnd()
  return text.endsWith(" |") ? text.slice(0, -2) : text
}
