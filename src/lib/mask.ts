/** Masks secrets that are known word for word: the keys and tokens of our own configuration. */

export const MASKED = "[redacted: configured secret]"

/** Shorter values are ordinary words; masking them would tear harmless text. */
const SECRET_CHARS_MIN = 6

/**
 * A function that replaces every occurrence of these values in a text. Each is also found as it looks
 * inside a JSON string and inside a URL. Longer values win over their own prefixes.
 */
export function maskLiterals(secrets: Iterable<string>): (text: string) => string {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < SECRET_CHARS_MIN) continue
    forms.add(secret)
    forms.add(JSON.stringify(secret).slice(1, -1))
    forms.add(encodeURIComponent(secret.toWellFormed()))
  }
  if (forms.size === 0) return (text) => text
  const pattern = new RegExp(
    [...forms]
      .sort((a, b) => b.length - a.length)
      .map((form) => RegExp.escape(form))
      .join("|"),
    "g",
  )
  return (text) => text.replace(pattern, MASKED)
}
