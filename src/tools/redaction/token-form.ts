/** What the list of token forms is made of. */

export interface TokenForm {
  kind: string
  /** Words that stand in it, apart by spaces. */
  anchors: string
  /** The whole token. */
  form: string
  /** So many characters of the token stand before the anchor. */
  back?: number
  /** Such characters of it stand before the anchor. */
  backOver?: RegExp
  /** Fewer bits a character are no secret. */
  bits?: number
  /** Also what is crossed out. */
  any?: boolean
  /** What may not follow, letters and figures when absent. */
  ends?: string
}

export const UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
