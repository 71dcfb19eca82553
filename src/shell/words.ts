/**
 * A command line of sh as simple commands of words, good enough to recognise what must never run. Quotes,
 * escapes, separators, subshells and substitutions are understood; variables stay as they are written.
 */

/** Words of one simple command, with a redirection as a word of its own such as `>/dev/sda`. */
export type SimpleCommand = readonly string[]

export function simpleCommands(line: string): SimpleCommand[] {
  const reader = new Reader(line)
  return reader.read()
}

/** A piece of a line by its first characters, and what it does. */
const PIECES: readonly [RegExp, (reader: Reader, piece: RegExpExecArray) => void][] = [
  // A backslash before a line end joins the lines.
  [/\\\n/y, () => {}],
  [/\\([\s\S])/y, (reader, [, char = ""]) => reader.add(char)],
  [/'([^']*)'?/y, (reader, [, inside = ""]) => reader.add(inside)],
  [/"((?:\\[\s\S]|[^"\\])*)"?/y, (reader, [, inside = ""]) => reader.addQuoted(inside)],
  [/\$\{[^}]*\}?/y, (reader, [variable]) => reader.add(variable)],
  [/[;&|\n()`]/y, (reader) => reader.endCommand()],
  [/\s+/y, (reader) => reader.endWord()],
  [/\d*>[>|]? */y, (reader) => reader.redirect()],
  // A comment begins a word; within a word `#` is a letter like any other.
  [/(?<![^\s;&|()`])#[^\n]*/y, () => {}],
  [/[\s\S]/y, (reader, [char]) => reader.add(char)],
]

class Reader {
  readonly #line: string
  readonly #commands: SimpleCommand[] = []
  #words: string[] = []
  #word: string | undefined

  constructor(line: string) {
    this.#line = line
  }

  read(): SimpleCommand[] {
    for (let at = 0; at < this.#line.length; ) {
      for (const [pattern, act] of PIECES) {
        pattern.lastIndex = at
        const piece = pattern.exec(this.#line)
        if (!piece) continue
        act(this, piece)
        at += piece[0].length
        break
      }
    }
    this.endCommand()
    return this.#commands
  }

  add(text: string): void {
    this.#word = (this.#word ?? "") + text
  }

  /** Between double quotes substitutions still run. */
  addQuoted(inside: string): void {
    this.add(inside.replace(/\\(["\\$`])/g, "$1"))
    for (const [, round = "", back = ""] of inside.matchAll(/\$\(([^)]*)\)?|`([^`]*)`?/g))
      this.#commands.push(...simpleCommands(round || back))
  }

  redirect(): void {
    this.endWord()
    this.#word = ">"
  }

  endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word)
    this.#word = undefined
  }

  endCommand(): void {
    this.endWord()
    if (this.#words.length > 0) this.#commands.push(this.#words)
    this.#words = []
  }
}
