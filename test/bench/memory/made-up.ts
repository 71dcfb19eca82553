/** Made-up memories: words as common and as rare as in a language, and vectors that are as good as random. */

export const DIMENSIONS = 1024
const VOCABULARY = 20_000
const WORDS = 16

/** Numbers 0…1 that are the same in every run (Numerical Recipes' generator). */
function* numbers(seed: number): Generator<number, never> {
  let state = (seed * 2654435761) >>> 0
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 2 ** 32
  }
}

const SYLLABLES = ["ba", "ko", "mi", "ru", "te", "sa", "lo", "vi", "ne", "du", "pa", "gi"]

/** The word of a rank: 0 is the most common. */
function word(rank: number): string {
  let text = ""
  for (let rest = rank + 150; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    text += SYLLABLES[rest % SYLLABLES.length]
  return text
}

/** Zipf's law: the second word is half as common as the first, and so on. */
function someWords(seed: number, count: number): string {
  const draw = numbers(seed)
  return Array.from({ length: count }, () => {
    const rank = Math.floor(Math.exp(draw.next().value * Math.log(VOCABULARY))) - 1
    return word(rank)
  }).join(" ")
}

export const contentOf = (i: number): string => someWords(i + 1, WORDS)

/** Eight words of one record and of the language. */
export const questionOf = (i: number): string =>
  `${contentOf(i * 97)
    .split(" ")
    .slice(0, 4)
    .join(" ")} ${someWords(i + 1e6, 4)}`

export function randomVector(seed: number): Float32Array {
  const draw = numbers(seed + 7)
  const vector = new Float32Array(DIMENSIONS)
  for (let i = 0; i < DIMENSIONS; i++) vector[i] = draw.next().value - 0.5
  return vector
}
