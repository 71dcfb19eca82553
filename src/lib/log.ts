/**
 * The logger: a value that is passed in, never a global. One line a record, for people on a terminal and
 * JSON elsewhere. Secrets are masked in the sink, so no caller can forget to.
 */
import pino from "pino"
import { parseJson } from "./json.ts"

export type LogFields = Record<string, unknown>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds these fields to each line: `log.with({ turn_id })`. */
  with(fields: LogFields): Log
}

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent"

export interface LogOptions {
  level: LogLevel
  /** Human lines instead of JSON. */
  human: boolean
  /** Where a finished line goes, newline included. */
  write: (line: string) => void
  /** Masks secrets in a finished line. */
  mask?: (line: string) => string
}

export function createLog(options: LogOptions): Log {
  const mask = options.mask ?? ((line: string) => line)
  const shape = options.human ? humanLine : (line: string) => line
  const destination = { write: (line: string) => options.write(mask(shape(line))) }
  return wrap(
    pino(
      {
        level: options.level,
        base: null,
        messageKey: "message",
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      },
      destination,
    ),
  )
}

/** A logger that says nothing: for tests and for parts used alone. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
}

function wrap(logger: pino.Logger): Log {
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
    with: (fields) => wrap(logger.child(fields)),
  }
}

function humanLine(line: string): string {
  const { time, level, message, ...fields } = parseJson(line) as Record<string, unknown>
  const clock = String(time).slice(11, 19)
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(value)}`)
  return `${clock} ${String(level).padEnd(5)} ${oneLine(String(message ?? ""))}${rest.join("")}\n`
}

/** A word as it is, anything else as JSON. */
function fieldText(value: unknown): string {
  const isWord = typeof value === "string" && /^[^\s"=]+$/.test(value)
  return oneLine(isWord ? value : JSON.stringify(value))
}

/** Line ends would fake records, and other control characters steer the terminal: they are written as escapes. */
const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (sign) => {
    const escaped = JSON.stringify(sign).slice(1, -1)
    if (escaped !== sign) return escaped
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`
  })
