/** Completion of commands and their arguments in the input, as the editor asks for it. */
import {
  type AutocompleteItem,
  type AutocompleteProvider,
  fuzzyFilter,
} from "@earendil-works/pi-tui"
import type { Session } from "../session.ts"
import { COMMANDS } from "./commands.ts"
import { safeLine } from "./safe-text.ts"

export function createCompletion(session: Session): AutocompleteProvider {
  return {
    async getSuggestions(lines, line, column) {
      const typed = (lines[line] ?? "").slice(0, column)
      if (line > 0 || lines.length > 1) return null
      return suggest(typed, session)
    },
    // biome-ignore lint/complexity/useMaxParams: the library calls it so
    applyCompletion(lines, line, column, item) {
      const text = lines[line] ?? ""
      const inserted = completed(text.slice(0, column), item.value, session)
      const changed = [...lines]
      changed[line] = inserted + text.slice(column)
      return { lines: changed, cursorLine: line, cursorCol: inserted.length }
    },
    // Files live on the kernel's machine, so none are offered from this one.
    shouldTriggerFileCompletion: () => false,
  }
}

/**
 * The input with the chosen word in its place. The list may be older than the last keys: what was typed
 * whole in the meantime stands.
 */
function completed(typed: string, chosen: string, session: Session): string {
  const space = typed.indexOf(" ")
  if (space < 0) {
    const isWhole = COMMANDS.some(({ name }) => typed === `/${name}`)
    return isWhole && chosen.trim() !== typed ? typed : chosen
  }
  const [name, word] = [typed.slice(1, space), typed.slice(space + 1)]
  const choices = COMMANDS.find((command) => command.name === name)?.choices?.(session) ?? []
  return choices.includes(word) ? typed : `${typed.slice(0, space + 1)}${chosen}`
}

function suggest(typed: string, session: Session) {
  const [, name, word] = /^\/([a-z]*)(?: (.*))?$/.exec(typed) ?? []
  if (name === undefined) return null
  if (word === undefined) return { prefix: typed, items: commandItems(name) }
  const choices = COMMANDS.find((command) => command.name === name)?.choices?.(session)
  if (choices === undefined) return null
  const found = fuzzyFilter([...new Set(choices)], word, (choice) => choice)
  if (found.length === 1 && found[0] === word) return null
  return { prefix: word, items: found.map((value) => ({ value, label: safeLine(value) })) }
}

function commandItems(start: string): AutocompleteItem[] {
  const begins = COMMANDS.filter(({ name }) => name.startsWith(start))
  const found = begins.length > 0 ? begins : fuzzyFilter([...COMMANDS], start, ({ name }) => name)
  return found.map(({ name, argument, about }) => ({
    value: argument ? `/${name} ` : `/${name}`,
    label: argument ? `/${name} ${argument}` : `/${name}`,
    description: about,
  }))
}
