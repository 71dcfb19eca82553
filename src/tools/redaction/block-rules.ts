/** Secrets that are known by what stands around them: headers, addresses, command lines, key files, manifests. */
import { entropyOf, isFilledIn, isPlaceholder, isRandom, isWordy } from "./plausible.ts"
import { patternRule, type SecretRule, type Span } from "./rule.ts"

const NONE: readonly Span[] = []
/** A key file and a manifest are looked at so far. */
const BLOCK_CHARS = 16_384

export const blockRules = (): SecretRule[] => [
  bearer,
  basic,
  authorization,
  privateKey,
  privateKeyEnd,
  addressPassword,
  commandLineUser,
  discordToken,
  kubernetesSecret,
]

const bearer = patternRule({
  kind: "bearer token",
  anchors: ["bearer"],
  pattern: /(?<![A-Za-z0-9_])[Bb](?:earer|EARER)(?:\s{1,4}|%20|\+)[\w.~+/=:-]{8,16000}/y,
  check: (found) => isCredential(found.slice("bearer".length).trimStart()),
})

/** The words after "Bearer" are ordinary ones as a rule: "Bearer of good news". */
const isCredential = (text: string): boolean =>
  isRandom(text, 8) ||
  (/^sk-/.test(text) && !isPlaceholder(text)) ||
  /^[a-z]+_[A-Za-z]{20,}$/.test(text)

const basic = patternRule({
  kind: "basic credentials",
  anchors: ["basic "],
  pattern: /(?<![A-Za-z0-9_])Basic {1,4}[A-Za-z0-9+/_-]{8,4000}={0,2}(?![\w.])/iy,
  check: (found) => isUserAndPassword(found.slice("basic".length).trim()),
})

function isUserAndPassword(encoded: string): boolean {
  const text = Buffer.from(encoded, "base64").toString("latin1")
  return /^[\x20-\x7e\xa0-\xff]+$/.test(text) && text.includes(":")
}

const authorization = patternRule({
  kind: "authorization",
  anchors: ["authorization"],
  pattern:
    /(authorization["'`\]]{0,2}\s{0,3}(?:[:=]|,|=>)\s{0,4}["'`]?(?:(?:token|apikey|key|digest|negotiate|aws4-hmac-sha256|ghost|splunk|genie\w*) {1,3})?)(?!bearer|basic)[^\s"'`,;<>\\]{8,4000}/iy,
  check: (value) => isRandom(value, 8),
})

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** What stands in a key file, new lines as JSON writes them included. */
const KEY_LINES = /(?:[A-Za-z0-9+/=:,. \t\r\n-]|\\[nrt])*/y

const privateKey: SecretRule = {
  kind: "private key",
  anchors: ["-----begin "],
  find: (text, at) => {
    KEY_BEGIN.lastIndex = at
    const begin = KEY_BEGIN.exec(text)
    if (!begin) return NONE
    const bodyAt = at + begin[0].length
    const near = text.slice(bodyAt, bodyAt + BLOCK_CHARS)
    KEY_END.lastIndex = 0
    const close = KEY_END.exec(near)
    if (close) {
      const isKey = isKeyBody(near.slice(0, close.index))
      return isKey ? [{ start: at, end: bodyAt + close.index + close[0].length }] : NONE
    }
    // Cut off before its end.
    KEY_LINES.lastIndex = 0
    const lines = KEY_LINES.exec(near)?.[0] ?? ""
    return lines.trim() === "" ? NONE : [{ start: at, end: bodyAt + lines.trimEnd().length }]
  },
}

/** No key is as short as what documents put there: "xxx", "...". */
function isKeyBody(body: string): boolean {
  const lines = body.replace(/\\[nrt]/g, "\n").trim()
  if (/^[\w+/=*.-]*$/.test(lines)) return lines.length >= 48
  return !/^<[^<>]*>$|^\$?\{[^{}]*\}$/.test(lines)
}

/** The end of a key whose beginning was cut away. */
const privateKeyEnd: SecretRule = {
  kind: "private key",
  anchors: ["-----end "],
  find: (text, at) => {
    const from = Math.max(0, at - BLOCK_CHARS)
    const before = text.slice(from, at)
    if (
      before.includes("PRIVATE KEY") ||
      !/^-----END [A-Z0-9 ]{0,40}PRIVATE KEY/.test(text.slice(at, at + 80))
    )
      return NONE
    let start = before.length
    while (start > 0 && /[A-Za-z0-9+/=\s\\]/.test(before[start - 1]!)) start--
    return start === before.length ? NONE : [{ start: from + start, end: at }]
  },
}

const addressPassword = patternRule({
  kind: "password in an address",
  anchors: ["://"],
  pattern: /(:\/\/[^\s:@/"'<>`]{0,200}:)[^\s"'<>`/]{1,200}(?=@[\w.[-])/y,
  check: (password) =>
    password.length > 3 &&
    !isFilledIn(password) &&
    !NO_PASSWORD.test(password) &&
    !/^(.)\1*$/.test(password),
})

const NO_PASSWORD = /^(?:my|your)?[-_]?pass(?:word|wd)$|your[-_]|replace|change[-_]?me|\*{3}|x{4}/i

const commandLineUser: SecretRule = {
  kind: "password",
  anchors: ["-u ", "-u\t", "--user "],
  find: (text, at) => {
    USER.lastIndex = at
    const match = USER.exec(text)
    if (!match) return NONE
    const [whole, lead = ""] = match
    const start = at + lead.length
    const value = whole.slice(lead.length)
    if (/^["']?</.test(value)) return NONE
    const [user = "", ...rest] = value.replace(/["']/g, "").split(":")
    const password = rest.join(":")
    const colon = value.indexOf(":")
    if (password === "")
      return isRandom(user.replace(/\W/g, ""), 10) ? [{ start, end: start + value.length }] : NONE
    const isReal = !isPlaceholder(password) && password !== user && !/^\d+$/.test(password)
    const isChosen = /\d|[^\w]/.test(password) || entropyOf(password) >= 3
    return isReal && isChosen && !isWordy(password) && !password.includes("$")
      ? [{ start: start + colon + 1, end: start + value.length }]
      : NONE
  },
}
const USER =
  /((?<![\w-])(?:-u|--user)[ \t]{1,8})(?=[^\s:]{0,200}:)(?:[^\s"']|"[^"\n]{0,200}"|'[^'\n]{0,200}'){1,200}/y

const SECOND_DOT = 7

/** No words give it away: a number as text, a time as text and a signature, apart by points. */
const discordToken: SecretRule = {
  kind: "discord token",
  anchors: ["."],
  find: (text, at) => {
    if (text[at + SECOND_DOT] !== ".") return NONE
    DISCORD.lastIndex = at
    const match = DISCORD.exec(text)
    const first =
      match && /(?<![\w-])[MNO][A-Za-z0-9]{23,25}$/.exec(text.slice(Math.max(0, at - 30), at))
    return first ? [{ start: at - first[0].length, end: at + match[0].length }] : NONE
  },
}
const DISCORD = /\.[\w-]{6}\.[\w-]{27,38}(?![\w-])/y

const kubernetesSecret: SecretRule = {
  kind: "kubernetes secret",
  anchors: ["kind:", 'kind":'],
  find: (text, at) => {
    if (!KIND_SECRET.test(text.slice(at, at + 40)) || !isFirstOfLine(text, at)) return NONE
    const from = manifestStart(text, at)
    const to = manifestEnd(text, at)
    return dataOf(text.slice(from, to)).map((span) => ({
      start: from + span.start,
      end: from + span.end,
    }))
  },
}
const KIND_SECRET = /^kind["']?:\s{0,4}["']?secret["']?\s/i

const isFirstOfLine = (text: string, at: number): boolean =>
  /(?:^|\n)[ \t"'{-]*$/.test(text.slice(Math.max(0, at - 40), at))

/** Back to the manifest before, or to the last secret, so that many in a row are read once each. */
function manifestStart(text: string, at: number): number {
  const least = Math.max(0, at - BLOCK_CHARS)
  let start = text.lastIndexOf("\n", at) + 1
  while (start > least) {
    const before = Math.max(least, text.slice(least, start - 1).lastIndexOf("\n") + least + 1)
    const line = text.slice(before, Math.min(start, before + 80))
    if (line.startsWith("---") || KIND_SECRET.test(line.replace(/^[ \t"'{-]+/, ""))) break
    start = before
  }
  return start
}

function manifestEnd(text: string, at: number): number {
  const near = text.slice(at, at + BLOCK_CHARS)
  const next = /\n(?:---|[ \t"'{-]{0,30}kind["']?:\s{0,4}["']?secret["']?\s)/i.exec(near)
  return at + (next ? next.index : near.length)
}

/** The values below `data:` and `stringData:`. */
function dataOf(manifest: string): Span[] {
  const found: Span[] = []
  for (const data of manifest.matchAll(
    /^[ \t]*(?:string)?data:[ \t]*\n((?:(?:[ \t]+.*|[ \t]*)(?:\n|$))*)/gim,
  )) {
    const blockAt = data.index + data[0].length - data[1]!.length
    for (const value of data[1]!.matchAll(/[A-Za-z0-9+/]{8,}={0,2}(?=["']?\s*$)/gm)) {
      const isLong = value[0].length >= 10
      if (isLong)
        found.push({ start: blockAt + value.index, end: blockAt + value.index + value[0].length })
    }
  }
  return found
}
