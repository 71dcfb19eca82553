/**
 * Headers are the kernel's alone, yet a model that reads many of them begins to write its own. They are taken
 * off the start of an answer, however many stand there, before anybody is shown it.
 */

/** What a header or a marker of the kernel begins with, in today's form or in that of other systems. */
const KINDS = String.raw`#|msg |p\d|guest\b|↩|(?:state|window|wrapup|kernel)(?=\])|\d\d:\d\d |\d{4}-\d\d-\d\d |\(master\)`
const HEADER = String.raw`^\s*\[(?:${KINDS})[^[\]\n]*\]`
/** A link of Markdown, `[#12](…)`, is none, so the next character decides. */
const FORGED = new RegExp(String.raw`${HEADER}(?=[^(])\s*`, "u")
const FORGED_AT_END = new RegExp(`${HEADER}$`, "u")
const MAY_BECOME_ONE = /^\s*(?:\[[^[\]\n]*\]?)?$/u

/** No header of the kernel is longer; what is longer is speech. */
const HEADER_MAX_CHARS = 400

/** A stream of text of which the start is held back for as long as it may still be a header. */
export function createHeaderShield() {
  let held = ""
  let open = true

  return {
    /** What may be shown of the text so far and was not given out yet. */
    push(text: string): string {
      if (!open) return text
      held += text
      const rest = withoutHeaders(held)
      if (rest.length <= HEADER_MAX_CHARS && MAY_BECOME_ONE.test(rest)) return ""
      open = false
      held = ""
      return rest
    },
    /** The text ends, or something else comes between: what is left of it. The next text begins anew. */
    end(): string {
      const rest = open ? withoutHeaders(held).replace(FORGED_AT_END, "") : ""
      held = ""
      open = true
      return rest
    },
  }
}

function withoutHeaders(text: string): string {
  const rest = text.replace(FORGED, "")
  return rest === text ? text : withoutHeaders(rest)
}
