/**
 * Secrets that only the word beside them gives away: `DB_PASSWORD=…`, `"api_key": "…"`, `token := …`. The word says
 * how sure one may be: behind `password` nearly anything is one, behind `key` or the name of a service only what
 * was made by chance.
 */
import { isPlaceholder, isRandom, isWordy } from "./plausible.ts"
import type { SecretRule, Span } from "./rule.ts"

const NONE: readonly Span[] = []

interface NamedSecret {
  kind: string
  /** Words of names. */
  words: string
  /** Strong: what stands there is a secret unless it is plainly none. Weak: only what looks made by chance. */
  isStrong?: boolean
  minChars?: number
}

const NAMES: readonly NamedSecret[] = [
  {
    kind: "password",
    words: "password passwd passphrase passwort _pass -pass pwd _pw -pw userpass",
    isStrong: true,
  },
  { kind: "secret", words: "secret secrete client_srt", isStrong: true },
  {
    kind: "api key",
    words:
      "apikey api_key api-key api.key privatekey private_key private-key access_key accesskey access-key secretkey authkey auth_key auth-key encryption_key encryptionkey signing_key signingkey master_key masterkey license_key licensekey service_key account_key consumer_key consumerkey",
    isStrong: true,
  },
  { kind: "token", words: "token", minChars: 8 },
  { kind: "credentials", words: "credential creds user_auth auth_ apiauth _auth", minChars: 10 },
  { kind: "client id", words: "client_id clientid client-id accessid access_id", minChars: 14 },
  { kind: "session cookie", words: "sessionid sessid", minChars: 16 },
]

/** Services whose keys have no form of their own: a value that looks made by chance beside the name is one. */
const SERVICES =
  "adafruit adobe airtable algolia alibaba asana atlassian confluence jira beamer bitbucket bittrex cisco meraki cloudflare cloudant clou_ codecov cohere coinbase confluent contentful contribsys datadog discord droneci dropbox dnkey etsy facebook fastly finicity finnhub flickr freshbooks gitter gocardless heroku hubspot ibm intercom jfrog artifactory bintray xray kraken kucoin launchdarkly linear linkedin lob looker mailchimp mailgun mapbox mattermost messagebird message_bird message-bird netlify new-relic newrelic new_relic nytimes okta plaid rapidapi sendbird sentry shodan snyk softlayer sonar sourcegraph squarespace sumologic sumo telegram travis trello twilio twitch twitter typeform yandex zendesk sl_ sl- slapi segment pagerduty mixpanel amplitude bugsnag rollbar circleci buildkite auth0 zoom asaas".split(
    " ",
  )

export const assignmentRules = (): SecretRule[] => [
  ...NAMES.map(namedRule),
  { kind: "key", anchors: SERVICES, find: findOfService },
  { kind: "key", anchors: ["_key", "-key", ".key"], find: findOfKey },
  { kind: "secret", anchors: ['" ==', '" !=', "' ==", "' !="], find: findCompared },
]

function namedRule({ kind, words, isStrong = false, minChars = 0 }: NamedSecret): SecretRule {
  return {
    kind,
    anchors: words.split(" "),
    find: (text, at, wordEnd) => {
      // "tokens", "secretary".
      const value = isWordGoingOn(text, wordEnd) ? undefined : valueAfter(text, at)
      if (!value) return NONE
      const isSecret = isStrong ? isStrongValue(value) : isRandom(value.text, minChars)
      return isSecret ? [wholeValue(text, value)] : NONE
    },
  }
}

function findOfService(text: string, at: number, wordEnd: number): readonly Span[] {
  // "lob" in "global", "etsy" in "SetSysctl".
  if (
    isWordGoingOn(text, at) ||
    /[A-Z]/.test(text.slice(at - 1, at)) ||
    isWordGoingOn(text, wordEnd) ||
    /[a-z]/.test(text[wordEnd] ?? "")
  )
    return NONE
  const value = valueAfter(text, at)
  const isSecret = value && (isRandom(value.text, 14) || HEX_PAIR.test(value.text))
  return isSecret ? [wholeValue(text, value)] : NONE
}

const HEX_PAIR = /^[0-9a-f]{8}:[0-9a-f]{8}$/

/** Two letters of which the second goes on with the word of the first. */
const isWordGoingOn = (text: string, at: number): boolean =>
  at > 0 && /^(?:[a-z][a-z]|[A-Z][A-Z])$/.test(text.slice(at - 1, at + 1))

function findOfKey(text: string, at: number): readonly Span[] {
  const value = valueAfter(text, at)
  if (/pub(?:lic)?$/i.test(text.slice(Math.max(0, at - 6), at))) return NONE
  return value && isRandom(value.text, 20) && !/[/.:]/.test(value.text)
    ? [wholeValue(text, value)]
    : NONE
}

interface Value extends Span {
  /** Its beginning, by which it is judged. */
  text: string
  /** In quotes; in quotes right behind the name, as an argument; as `NAME=value`; or without any of it. */
  place: "quoted" | "call" | "environment" | "bare"
}

/**
 * From the end of a name to the value: the quotes of the name, a type, a sign, and what stands before a quote. The
 * signs: `= := ::= ?= .= == != => : , ( >` and the attribute of XML.
 */
const LEAD =
  /(?:\[[\w"']{0,20}\])?\\?["'`]?[\])]?(?:[ \t](?:string|str|String|text))?(?:[ \t]{0,12}(?:[:?.+!]{0,3}={1,3}>?[ \t]{0,20}|:[ \t]{0,20}|=>[ \t]{0,20}|,[ \t]{0,4}(?=["'`]))|\s?>\s{0,20}|\((?=["'`])|"[ \t]{1,4}(?:value|content)=|[ \t]{1,4}(?=["'`]))(?:\n[ \t]{1,20})?(?:@|[rbfu](?=["'])|&)?/y
/** `--password value` of a command. */
const FLAG = /(?<=--[\w-]{0,40}) {1,2}/y
const QUOTED = /\\?(["'`])((?:(?!\1)[^\n]){1,600}?)\\?\1/y
const JUDGED_CHARS = 160
const OPEN_QUOTE = /["'`]/
const BARE_CHAR = /[^\s"'`<,]/
const BARE = /[^\s"'`<,]{4,600}/y

function valueAfter(text: string, at: number): Value | undefined {
  const nameEnd = endOfName(text, at)
  const lead = sticky(LEAD, text, nameEnd) ?? sticky(FLAG, text, nameEnd)
  if (lead === undefined) return undefined
  const from = nameEnd + lead.length
  QUOTED.lastIndex = from
  const quoted = QUOTED.exec(text)
  if (quoted) return quotedValue(quoted, from, lead)
  return bareValue(text, {
    at,
    nameEnd,
    lead,
    from: from + (OPEN_QUOTE.test(text[from] ?? "") ? 1 : 0),
  })
}

/** Without quotes, or with one that is not closed soon. */
function bareValue(
  text: string,
  { at, nameEnd, lead, from }: { at: number; nameEnd: number; lead: string; from: number },
): Value | undefined {
  const bare = sticky(BARE, text, from)
  if (bare === undefined || bare.startsWith("//")) return undefined
  const inner = trimmed(bare)
  const isStatement = (bare.endsWith(";") && /[([{]/.test(bare)) || /=>\s*$/.test(lead)
  if (isStatement || isCode(inner)) return undefined
  const name = text.slice(lineStart(text, at), nameEnd)
  const place = lead === "=" && /^[A-Z][A-Z0-9_]*$/.test(name) ? "environment" : "bare"
  return { start: from, end: from + inner.length, text: inner.slice(0, JUDGED_CHARS), place }
}

/** What is looked at of a value without quotes. A longer one goes whole. */
const BARE_CHARS = 600
const RUN_CHARS = 16_384

function wholeValue(text: string, value: Value): Span {
  let { start, end } = value
  if (value.place === "quoted" || end - start < BARE_CHARS) return value
  while (end - start < RUN_CHARS && end < text.length && BARE_CHAR.test(text[end]!)) end++
  return { start, end }
}

function quotedValue(quoted: RegExpExecArray, from: number, lead: string): Value {
  const inner = quoted[2]!
  const start = from + quoted[0].indexOf(inner)
  return {
    start,
    end: start + inner.length,
    text: inner.slice(0, JUDGED_CHARS),
    place: /[(\s]$/.test(lead) && !/[=:,>]/.test(lead) ? "call" : "quoted",
  }
}

const NAME_CHARS = 60

function endOfName(text: string, at: number): number {
  let end = at
  while (end - at < NAME_CHARS && isNameCode(text.charCodeAt(end))) end++
  return end
}

/** Letters, figures, `_ - .` */
const isNameCode = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 45 && code <= 57 && code !== 47) ||
  code === 95

/** Without what closes the surroundings. */
const trimmed = (bare: string): string => {
  const line = bare.replace(/\\n.*$/s, "")
  return /[([{]|\.{3}$/.test(line) ? line : line.replace(/[\])}.;]+$/, "")
}

function sticky(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

const LINE_CHARS = 200

function lineStart(text: string, at: number): number {
  const from = Math.max(0, at - LINE_CHARS)
  const newLine = text.slice(from, at).lastIndexOf("\n")
  const start = newLine < 0 ? from : from + newLine + 1
  return text.startsWith("export ", start) ? start + "export ".length : start
}

/** A name, a call, an index: what a program reads, not what it holds. */
const isCode = (text: string): boolean =>
  /^[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*[([]/.test(text) ||
  /^[a-z_$]\w*(?:(?:\.|->|::)[A-Za-z_$]\w*)+$/i.test(text)

function isStrongValue({ text, place }: Value): boolean {
  if (text.length < 6 || isPlaceholder(text) || /^(?:Bearer|Basic) /.test(text)) return false
  // Neither a path nor a regular expression, unless it was made by chance.
  if (!/^[\w+@!%*.#~=&?-]/.test(text)) return isRandom(text, 20)
  if (place === "environment") return true
  const isOdd = /[#$%^&*!?{}~+]/.test(text)
  if (place === "call") return isRandom(text, 8) || (isOdd && !/\s/.test(text))
  if (place === "quoted") return !isConstant(text) && !(isWordy(text) && /[_./]/.test(text))
  return !isWordy(text) && (/\d/.test(text) ? /[A-Za-z]/.test(text) : isOdd || isRandom(text, 20))
}

/** The name of a setting: `DB_PASSWORD`. */
const isConstant = (text: string): boolean => /^(?:[A-Z][A-Z0-9]*_)+[A-Z0-9]+$/.test(text)

/** `"…" == password`: the value stands before the name. */
function findCompared(text: string, at: number): readonly Span[] {
  COMPARED.lastIndex = at
  if (!COMPARED.test(text)) return NONE
  const from = Math.max(0, at - LINE_CHARS)
  const open = text.slice(from, at).lastIndexOf(text[at]!)
  if (open < 0) return NONE
  const start = from + open + 1
  const value = text.slice(start, at)
  return !value.includes("\n") && !isPlaceholder(value) && value.length >= 6
    ? [{ start, end: at }]
    : NONE
}
const COMPARED = /["'] [!=]==? [\w.]{0,30}?(?:pass|secret|token|api_?key|private_?key|credential)/iy
