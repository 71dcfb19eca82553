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
/** These begin a line. */
const LINES = new Set(["li", "tr", "dt", "dd", "br"])
const HEADING = /^h([1-6])$/

interface Link {
  href: string | undefined
  /** Where its words begin. */
  start: number
}

export function createPageWriter(): PageWriter {
  const out: string[] = []
  const lists: { ordered: boolean; count: number }[] = []
  const links: Link[] = []
  let pre = 0
  /** Line ends that are due before the next word. */
  let gap = 0
  let space = false

  const breakLine = (lines: number): void => {
    gap = Math.max(gap, lines)
    space = false
  }
  const put = (words: string): void => {
    if (gap > 0 && out.length > 0) out.push("\n".repeat(gap))
    else if (space && out.length > 0) out.push(" ")
    gap = 0
    space = false
    out.push(words)
  }
  const openItem = (): void => {
    const list = lists.at(-1)
    if (list) list.count++
    const mark = list?.ordered ? `${list.count}. ` : "- "
    put("  ".repeat(Math.max(0, lists.length - 1)) + mark)
  }

  return {
    open: (name, href) => {
      if (BLOCKS.has(name)) breakLine(lists.length > 0 && (name === "ul" || name === "ol") ? 1 : 2)
      else if (LINES.has(name)) breakLine(1)
      const heading = HEADING.exec(name)?.[1]
      if (heading !== undefined) put(`${"#".repeat(Number(heading))} `)
      if (name === "ul" || name === "ol") lists.push({ ordered: name === "ol", count: 0 })
      if (name === "li") openItem()
      if (name === "hr") put("---")
      if (name === "pre" && pre++ === 0) put("```\n")
      if (name === "a") links.push({ href, start: out.length })
    },
    text: (text) => {
      if (pre > 0) {
        put(text)
        return
      }
      const words = text.replace(/\s+/g, " ").trim()
      if (words === "") {
        space ||= text !== ""
        return
      }
      if (/^\s/.test(text)) space = true
      // Behind the mark of a heading or an item there is a space already.
      if (out.at(-1)?.endsWith(" ")) space = false
      put(words)
      space = /\s$/.test(text)
    },
    close: (name) => {
      if (name === "pre" && pre > 0 && --pre === 0) {
        put(out.at(-1)?.endsWith("\n") ? "```" : "\n```")
      }
      if ((name === "ul" || name === "ol") && lists.length > 0) lists.pop()
      if (name === "td" || name === "th") {
        space = false
        if (gap === 0) put(" |")
        space = true
      }
      if (name === "a") closeLink(out, links.pop())
      if (BLOCKS.has(name)) breakLine(2)
      else if (LINES.has(name)) breakLine(1)
    },
    result: () =>
      out
        .join("")
        .replace(/[ \t]+\n/g, "\n")
        .replace(/ \|(?=\n|$)/g, "")
        .replace(/\n{3,}/g, "\n\n")
        .trim(),
  }
}

/** A link without words is left out; so is the address where the words are it. */
function closeLink(out: string[], link: Link | undefined): void {
  if (link?.href === undefined) return
  const words = out.slice(link.start).join("").trim()
  if (words === "" || words === link.href) return
  const lead = /^\s*/.exec(out.slice(link.start).join(""))?.[0] ?? ""
  out.splice(link.start, out.length, `${lead}[${words}](${link.href})`)
}
