/**
 * What the index is given of a folded text: the text, and each word that does not stand between plain spaces once
 * more between such. So every whole word is found by groups that hold its borders, whatever borders it: "of" by
 * " of" and "of ", and not by every "office" and "loof".
 */

const WORD = /[\p{L}\p{N}\p{M}]+/gu

export function indexedText(folded: string): string {
  if (folded === "") return ""
  const bordered = new Set<string>()
  for (const { 0: word, index } of folded.matchAll(WORD)) {
    const isPlain = folded[index - 1] === " " && folded[index + word.length] === " "
    if (!isPlain) bordered.add(word)
  }
  return `${folded}\n ${[...bordered].join(" ")} `
}
