/** Russian words in Latin letters, as names and brands are written: `интернет2` is `internet2`. */

/** Near to ISO 9 in its simple form (GOST 7.79 system B), without signs. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ а: "a", б: "b", в: "v", г: "g", д: "d", е: "e", ж: "zh", з: "z", и: "i", й: "y", к: "k" },
  ...{ л: "l", м: "m", н: "n", о: "o", п: "p", р: "r", с: "s", т: "t", у: "u", ф: "f", х: "h" },
  ...{ ц: "ts", ч: "ch", ш: "sh", щ: "sch", ъ: "", ы: "y", ь: "", э: "e", ю: "yu", я: "ya" },
}

/** Of a word in lower case with `ё` as `е`; undefined for one without Russian letters. */
export function latinOf(word: string): string | undefined {
  if (!/[а-я]/.test(word)) return undefined
  return Array.from(word, (letter) => LETTERS[letter] ?? letter).join("")
}
