/**
 * Where fresh tool traffic begins. This one function says so to the collapsing of what lies before and to the
 * placing of the cache anchor: were they to disagree, the anchor would stand on bytes that still change.
 */

export interface FreshWindow {
  /** So many exchanges at most. */
  exchanges: number
  /** So many characters at most; 0 counts exchanges alone. */
  chars: number
}

/**
 * The first fresh exchange among those before `end`, by what each weighs in characters: whichever measure is
 * used up first ends the window. It depends on nothing but the exchanges inside the window, so a later turn, a
 * fold or a cut of older history moves it forward only.
 */
export function freshFrom(weights: readonly number[], end: number, window: FreshWindow): number {
  let from = end
  let chars = 0
  while (from > 0 && end - from < window.exchanges) {
    chars += weights[from - 1]!
    if (window.chars > 0 && chars > window.chars) break
    from--
  }
  return from
}
