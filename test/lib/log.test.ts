import { describe, expect, test } from "bun:test"
import { parseJson } from "../../src/lib/json.ts"
import { createLog, type LogOptions, silentLog } from "../../src/lib/log.ts"
import { maskLiterals } from "../../src/lib/mask.ts"

const recorded = (options: Partial<LogOptions> = {}) => {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { lines, log: createLog({ level: "info", human: false, write, ...options }) }
}
/** A record without its time, which is checked apart. */
const record = (line: string | undefined) => {
  const { time, ...rest } = parseJson(line!) as Record<string, unknown>
  expect(String(time)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  return rest
}

describe("for machines", () => {
  test("a record is one line of JSON with level, message and fields", () => {
    const { log, lines } = recorded()
    log.info("two\nlines", { text: "three\nmore\u2028lines", size: 3, list: [1], none: null })
    expect(lines).toHaveLength(1)
    expect(lines[0]!.match(/\n/g)).toHaveLength(1)
    expect(lines[0]).toEndWith("}\n")
    expect(record(lines[0])).toEqual({
      ...{ level: "info", message: "two\nlines", text: "three\nmore\u2028lines" },
      ...{ size: 3, list: [1], none: null },
    })
  })

  test("a logger of a turn adds its id to each line, and a narrower one adds to that", () => {
    const { log, lines } = recorded({ level: "debug" })
    const turn = log.with({ turn_id: "t1" })
    turn.warn("slow")
    turn.with({ tool: "shell" }).debug("began", { call_id: "c1" })
    log.error("other")
    expect(lines.map(record)).toEqual([
      { level: "warn", turn_id: "t1", message: "slow" },
      { level: "debug", turn_id: "t1", tool: "shell", call_id: "c1", message: "began" },
      { level: "error", message: "other" },
    ])
  })

  test("what lies below the level is not written, and silence says nothing", () => {
    const { log, lines } = recorded({ level: "warn" })
    log.debug("no")
    log.info("no")
    log.with({ a: 1 }).info("no")
    log.warn("yes")
    log.error("yes")
    expect(lines).toHaveLength(2)
    const silent = recorded({ level: "silent" })
    silent.log.error("no")
    silentLog.with({ a: 1 }).error("no")
    expect(silent.lines).toEqual([])
  })

  test("a field that JSON cannot hold does not lose the record", () => {
    const { log, lines } = recorded()
    const circle: Record<string, unknown> = { name: "circle" }
    circle.self = circle
    log.info("odd", { circle, big: 10n ** 20n, fun: () => 1, nothing: undefined })
    expect(record(lines[0])).toMatchObject({ message: "odd", circle: { name: "circle" } })
  })
})

describe("for people", () => {
  test("a record is one line with the time of day, the level, the message and the fields", () => {
    const { log, lines } = recorded({ human: true })
    log.info("listening", { url: "http://127.0.0.1:8090/", tools: 3, why: "no config" })
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d info {2}listening url=http:\/\/127\.0\.0\.1:8090\/ tools=3 why="no config"\n$/,
    )
  })

  test("no text can fake a record or steer the terminal", () => {
    const { log, lines } = recorded({ human: true })
    const evil = "x\n12:00:00 info  all is well\r\u001b[2J\u0085\u2028"
    log.warn(evil, { evil, nested: { evil } })
    expect(lines).toHaveLength(1)
    expect(lines[0]!.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028]/u)
    expect(lines[0]).toContain("x\\n12:00:00 info  all is well\\r\\u001b[2J\\u0085\\u2028")
  })
})

test.each([true, false])("secrets are masked in the finished line, human: %p", (human) => {
  const secret = 'sk-"quoted"/and long'
  const { log, lines } = recorded({ human, mask: maskLiterals([secret]) })
  log.with({ key: secret }).error(`refused: ${secret}`, {
    url: `http://host/?key=${encodeURIComponent(secret)}`,
    nested: { list: [secret] },
  })
  expect(lines.join("")).not.toContain("quoted")
  expect(lines.join("").match(/redacted/g)).toHaveLength(4)
  if (!human) expect(record(lines[0])).toMatchObject({ level: "error" })
})
