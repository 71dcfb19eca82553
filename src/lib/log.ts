/**
 * The logger: a value that is passed in, never a global. One line a record, for people on a terminal and
 * JSON elsewhere. Secrets are masked in the sink, so no caller can forget to.
 */
import type { Logger, pino as Pino } from "pino"
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

/** The library loads with the first line: it costs some ten milliseconds, which no start has to wait for. */
export function createLog(options: LogOptions): Log {
  const mask = options.mask ?? ((line: string) => line)
  const shape = options.human ? humanLine : (line: string) => line
  const destination = { write: (line: string) => options.write(mask(shape(line))) }
  const open = (): Logger => {
    const { pino } = require("pino") as { pino: typeof Pino }
    return pino(
      {
        level: options.level,
        base: null,
        messageKey: "message",
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      },
      destination,
    )
  }
  return wrap(open, LEVELS.indexOf(options.level))
}

const LEVELS: readonly LogLevel[] = ["trace", "debug", "info", "warn", "error", "silent"]

/** A logger that says nothing: for tests and for parts used alone. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
}

function wrap(open: () => Logger, lowest: number): Log {
  let opened: Logger | undefined
  const logger = (): Logger => {
    opened ??= open()
    return opened
  }
  const line =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void => {
      if (LEVELS.indexOf(level) >= lowest) logger()[level](fields, message)
    }
  return {
    ...{ debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
    with: (fields) => wrap(() => logger().child(fields), lowest),
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
