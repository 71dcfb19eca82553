/**
 * The readable text of a page, in plain Markdown: headings, lists, links, code and tables stay recognisable,
 * scripts, menus and forms go. It is read as a stream of tags, so neither depth nor disorder matters.
 */
import type { Parser } from "htmlparser2"
import { MarkdownWriter, type PageWriter } from "./markdown-writer.ts"

export interface PageText {
  title: string
  text: string
}

/** Nothing of these is words of the page. */
const SILENT = new Set(
  "script style noscript template svg math iframe object embed canvas video audio select option button input textarea nav footer aside dialog".split(
    " ",
  ),
)
/** What stands in these is what the page is about. */
const MAIN = new Set(["main", "article"])
/** A main part shorter than this may be a teaser: then the whole page is taken. */
const MAIN_CHARS_MIN = 200
/** The parser searches all open elements at each tag, so with more of them it starts anew. */
const DEPTH_MAX = 2000
/** Read at one go; then others have their turn. */
const PIECE_CHARS = 32_768

/** `baseUrl` makes links absolute. */
export async function pageText(html: string, baseUrl: string): Promise<PageText> {
  const { Parser } = await import("htmlparser2")
  const page = new Page(baseUrl)
  const parser: Parser = new Parser(
    {
      onopentag: (name, attributes) => page.open(name, attributes),
      ontext: (text) => page.text(text),
      onclosetag: (name) => page.close(name),
    },
    { decodeEntities: true, lowerCaseTags: true },
  )
  for (let at = 0; at < html.length; at += PIECE_CHARS) {
    parser.write(html.slice(at, at + PIECE_CHARS))
    if (page.depth > DEPTH_MAX) {
      parser.reset()
      page.forgetOpen()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  parser.end()
  return page.result()
}

class Page {
  #base: string
  #title = ""
  #titleOpen = false
  /** How many silent elements are open. */
  #silent = 0
  #mainOpen = 0
  #depth = 0
  readonly #whole: PageWriter = new MarkdownWriter()
  readonly #main: PageWriter = new MarkdownWriter()

  constructor(base: string) {
    this.#base = base
  }

  /** How many elements are open. */
  get depth(): number {
    return this.#depth
  }

  forgetOpen(): void {
    this.#depth = 0
    this.#silent = 0
    this.#mainOpen = 0
  }

  open(name: string, attributes: Record<string, string>): void {
    this.#depth++
    if (name === "base" && attributes.href) {
      this.#base = URL.parse(attributes.href, this.#base)?.href ?? this.#base
    }
    if (name === "title" && this.#title === "") this.#titleOpen = true
    if (SILENT.has(name)) this.#silent++
    if (MAIN.has(name)) this.#mainOpen++
    if (this.#silent === 0) {
      const href = name === "a" ? this.#linkOf(attributes.href) : undefined
      this.#each((writer) => writer.open(name, href))
    }
  }

  text(text: string): void {
    if (this.#titleOpen) this.#title += text
    else if (this.#silent === 0) this.#each((writer) => writer.text(text))
  }

  close(name: string): void {
    this.#depth--
    if (name === "title") this.#titleOpen = false
    if (this.#silent === 0) this.#each((writer) => writer.close(name))
    if (SILENT.has(name) && this.#silent > 0) this.#silent--
    if (MAIN.has(name) && this.#mainOpen > 0) this.#mainOpen--
  }

  result(): PageText {
    const main = this.#main.result()
    const text = main.length >= MAIN_CHARS_MIN ? main : this.#whole.result()
    return { title: this.#title.replace(/\s+/g, " ").trim(), text }
  }

  #each(act: (writer: PageWriter) => void): void {
    act(this.#whole)
    if (this.#mainOpen > 0) act(this.#main)
  }

  /** Only what can be fetched is a link: no scripts, no places within the page. */
  #linkOf(href: string | undefined): string | undefined {
    if (href === undefined || href.startsWith("#")) return undefined
    const url = URL.parse(href, this.#base)
    return url && /^https?:$/.test(url.protocol) ? url.href : undefined
  }
}
