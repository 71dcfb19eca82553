/** What may be shown of a configuration, and the list of what may not. */
import { formatDuration } from "../lib/duration.ts"
import { isObject } from "../lib/json.ts"
import { maskLiterals } from "../lib/mask.ts"
import { type Field, propertiesOf, recordOf } from "./field.ts"
import { Config } from "./schema.ts"

export const REDACTED = "[redacted]"

const SECRET_NAME =
  /(^|[_-])(keys?|tokens?|secret|passwords?|passwd|passphrase|credentials?|env|headers|authorization|cookies?)$/i

/**
 * Whether a field of this name is blanked whole. Plain numbers stay, so `max_tokens` and `max_tokens_guest` are
 * no secrets.
 */
export const isSecretField = (name: string, value: unknown): boolean =>
  SECRET_NAME.test(name) && typeof value !== "number" && typeof value !== "boolean"

/**
 * The snapshot for `GET /v1/config` and `eva-kernel config`: the tree as a file would hold it, secrets replaced
 * by `[redacted]`, addresses without user and password. Every other string passes `redact`.
 */
export function maskConfig(
  config: Config,
  redact: (text: string) => string = (text) => text,
): Record<string, unknown> {
  const maskSecrets = maskLiterals(configSecrets(config))
  const clean = (text: string): string => redact(maskSecrets(cleanUrl(text)))
  return mask(config, Config, clean) as Record<string, unknown>
}

function mask(value: unknown, field: Field | undefined, clean: (text: string) => string): unknown {
  if (field?.secret) return REDACTED
  if (typeof value === "string") return clean(value)
  if (typeof value === "number" && field?.kind === "duration") return formatDuration(value)
  if (Array.isArray(value)) return value.map((item) => mask(item, itemOf(field), clean))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      isSecretField(key, inner) ? REDACTED : mask(inner, childOf(field, key), clean),
    ]),
  )
}

/** Every literal secret of the configuration, for `maskLiterals` in the log sink and in tool output. */
export function configSecrets(config: Config): string[] {
  const found = new Set<string>()
  collect(config, { field: Config, secret: false, found })
  return [...found]
}

function collect(
  value: unknown,
  at: { field: Field | undefined; secret: boolean; found: Set<string> },
): void {
  const secret = at.secret || at.field?.secret === true
  if (typeof value === "string") {
    for (const text of secret ? [value] : urlSecrets(value)) at.found.add(text)
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, { ...at, field: itemOf(at.field), secret })
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      const named = secret || isSecretField(key, inner)
      collect(inner, { ...at, field: childOf(at.field, key), secret: named })
    }
  }
}

const itemOf = (field: Field | undefined): Field | undefined => field?.items as Field | undefined

const childOf = (field: Field | undefined, key: string): Field | undefined =>
  field && (recordOf(field) ?? propertiesOf(field)?.[key])

/** The address without user, password and secret parameters; any other text as it is. */
function cleanUrl(text: string): string {
  const url = text.includes("://") ? URL.parse(text) : null
  if (!url || urlSecrets(text).length + url.username.length === 0) return text
  url.username = ""
  url.password = ""
  for (const [name, value] of [...url.searchParams]) {
    if (isSecretField(name, value)) url.searchParams.set(name, REDACTED)
  }
  return url.href
}

/** The password in an address, encoded and plain, and its secret parameters. */
function urlSecrets(text: string): string[] {
  const url = text.includes("://") ? URL.parse(text) : null
  if (!url) return []
  const parameters = [...url.searchParams].filter(([name, value]) => isSecretField(name, value))
  const password = url.password === "" ? [] : [url.password, decoded(url.password)]
  return [...password, ...parameters.map(([, value]) => value)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
