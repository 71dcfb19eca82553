/**
 * Finds many words in a text at once, in one pass and whatever their case: the machine of Aho and Corasick over
 * the few characters that occur in the words. https://dl.acm.org/doi/10.1145/360825.360855
 */

/** Told for each word of the text: which one, where it begins and where it ends. */
export type OnWord = (word: number, at: number, end: number) => void

export interface KeywordScan {
  scan(text: string, onWord: OnWord): void
}

const ASCII = 128
/** Room for the characters of one state: its row in the table is found by a shift. */
const ROW_BITS = 6
const ROW = 1 << ROW_BITS

interface Node {
  next: Map<number, Node>
  fail: Node | undefined
  /** Words that end here, those of shorter ends included. */
  words: number[]
  index: number
}

/** Words are ASCII, with at most 63 different characters in all. */
export function createKeywordScan(words: readonly string[]): KeywordScan {
  const classes = classesOf(words)
  const root = trieOf(words, classes)
  const nodes = linked(root)
  // States in which a word ends come last, so that one comparison tells them.
  const quiet = nodes.filter((node) => node.words.length === 0)
  const ordered = [...quiet, ...nodes.filter((node) => node.words.length > 0)]
  ordered.forEach((node, index) => {
    node.index = index
  })
  const table = new Uint16Array(ordered.length * ROW)
  // Breadth first, so that a row that is fallen back to is filled already.
  for (const node of nodes) fillRow(table, node, root)
  const found = ordered.map((node) => node.words)
  const lengths = words.map((word) => word.length)
  const firstLoud = quiet.length

  return {
    scan: (text, onWord) => {
      let state = 0
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        state = table[(state << ROW_BITS) | (code < ASCII ? classes[code]! : 0)]!
        if (state < firstLoud) continue
        for (const word of found[state]!) onWord(word, at + 1 - lengths[word]!, at + 1)
      }
    },
  }
}

/** A number from 1 for each character that occurs, the same for both cases of a letter; 0 for all others. */
function classesOf(words: readonly string[]): Uint8Array {
  const classes = new Uint8Array(ASCII)
  let count = 0
  for (const char of new Set(words.join("").toLowerCase())) {
    count++
    classes[char.charCodeAt(0)] = count
    classes[char.toUpperCase().charCodeAt(0)] = count
  }
  return classes
}

function trieOf(words: readonly string[], classes: Uint8Array): Node {
  const root = createNode()
  words.forEach((word, index) => {
    let node = root
    for (let at = 0; at < word.length; at++) {
      const key = classes[word.charCodeAt(at)]!
      const next = node.next.get(key) ?? createNode()
      node.next.set(key, next)
      node = next
    }
    node.words.push(index)
  })
  return root
}

const createNode = (): Node => ({ next: new Map(), fail: undefined, words: [], index: 0 })

/** All states breadth first, each with the longest other one that its text ends with. */
function linked(root: Node): Node[] {
  const nodes = [root]
  for (const node of nodes) {
    for (const [key, child] of node.next) {
      let fail = node.fail
      while (fail && !fail.next.has(key)) fail = fail.fail
      child.fail = fail?.next.get(key) ?? root
      child.words.push(...child.fail.words)
      nodes.push(child)
    }
  }
  return nodes
}

function fillRow(table: Uint16Array, node: Node, root: Node): void {
  const row = node.index << ROW_BITS
  if (node !== root) {
    const from = node.fail!.index << ROW_BITS
    table.copyWithin(row, from, from + ROW)
  }
  for (const [key, child] of node.next) table[row + key] = child.index
}
