/**
 * Secrets that are known by their form: what services put before the random part, and how long that is. From the
 * services' own documents; a line each, so that a new one is a line.
 */
import { COMMON_TOKEN_FORMS } from "./common-token-forms.ts"
import { isCrossedOut, withEntropy } from "./plausible.ts"
import { isPublished } from "./published.ts"
import { patternRule, type SecretRule } from "./rule.ts"
import { SERVICE_TOKEN_FORMS } from "./service-token-forms.ts"

/** Not within a word. What JSON writes for a new line is no word. */
const STARTS = String.raw`(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))`
const ENDS = "(?![A-Za-z0-9])"

/** In the order of the list: where two find the same, the first names it. */
export const tokenRules = (): SecretRule[] =>
  [...COMMON_TOKEN_FORMS, ...SERVICE_TOKEN_FORMS].map(
    ({ kind, anchors, form, back, backOver, bits, any, ends = ENDS }) => {
      const isLikely = bits === undefined ? undefined : withEntropy(bits)
      return patternRule({
        kind,
        anchors: anchors.split(" "),
        pattern: new RegExp(
          `${backOver || /^\W/.test(anchors) ? "" : STARTS}(?:${form})${ends}`,
          "y",
        ),
        ...(back !== undefined && { back }),
        ...(backOver && { backOver }),
        check: (secret) =>
          (any || !isCrossedOut(secret)) &&
          (isLikely?.(secret) ?? true) &&
          !isBrokenJwt(secret) &&
          !isPublished(secret),
      })
    },
  )

/** The first part of a web token is an object of JSON that names how it is signed; what is none opens nothing. */
function isBrokenJwt(secret: string): boolean {
  if (!/^eyJ[\w-]+\./.test(secret)) return false
  const header = Buffer.from(secret.split(".", 1)[0]!, "base64url").toString("latin1")
  return !header.includes('"alg"') || !/\}\s*$/.test(header)
}
