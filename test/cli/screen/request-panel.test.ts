/** The panel of requests, for what no kernel of a test asks by itself. */
import { expect, test } from "bun:test"
import { stripTerminalSequences } from "@earendil-works/pi-tui"
import { RequestPanel } from "../../../src/cli/chat/screen/request-panel.ts"
import { createTheme } from "../../../src/cli/chat/screen/theme.ts"
import type { PendingRequest, QuestionAnswer, Session } from "../../../src/cli/chat/session.ts"

const KEY = { enter: "\r", escape: "\x1b", down: "\x1b[B", pageDown: "\x1b[6~", space: " " }

function panelOf(...pending: PendingRequest[]) {
  const decided: string[] = []
  const answers: QuestionAnswer[] = []
  const session = {
    state: () => ({ pending }),
    decide: async (_request: unknown, decision: string) => void decided.push(decision),
    answer: async (_request: unknown, answer: QuestionAnswer) => void answers.push(answer),
  } as unknown as Session
  const panel = new RequestPanel({
    session,
    theme: createTheme(true),
    attempt: (action) => void action(),
  })
  const lines = (width = 40, rows = 20) => panel.render({ width, rows }).map(stripTerminalSequences)
  return { panel, pending, decided, answers, lines }
}

const operation = (changes: Partial<PendingRequest> = {}): PendingRequest =>
  ({
    kind: "operation",
    id: "op",
    chatId: "chat",
    turnId: "turn",
    title: "write notes.md",
    details: [],
    decisions: ["allow", "allow_session", "deny"],
    agent: undefined,
    ...changes,
  }) as PendingRequest

const question = (changes: Partial<PendingRequest> = {}): PendingRequest =>
  ({
    kind: "question",
    id: "call/0",
    chatId: "chat",
    turnId: "turn",
    callId: "call",
    index: 0,
    title: "Which ones?",
    options: [{ label: "tea", description: "green" }, { label: "coffee" }],
    isMultiple: false,
    decisions: ["discuss", "dance"],
    ...changes,
  }) as PendingRequest

test("an operation is drawn with who asks, what changes and what may be decided", () => {
  const { lines } = panelOf(
    operation({
      agent: "scout",
      title: "write\u001b[2J notes.md",
      details: [
        { kind: "same", text: "one" },
        { kind: "removed", text: "two" },
        { kind: "added", text: "three \u202eevil" },
      ],
    }),
    question(),
  )
  expect(lines()).toEqual([
    "? scout: write notes.md · 1 more",
    "    one",
    "  - two",
    "  + three evil",
    "› allow",
    "  allow for this session",
    "  deny · Esc",
  ])
})

test("a decision that nobody knows is left out, and refusing is always possible", () => {
  const { lines } = panelOf(operation({ decisions: ["allow", "allow_for_a_moon"] }))
  expect(lines()).toEqual(["? write notes.md", "› allow", "  deny · Esc"])
})

test("more than fits is scrolled to, and what may be chosen stays in sight", () => {
  const details = Array.from({ length: 30 }, (_, n) => ({ kind: "added", text: `line ${n}` }))
  const { panel, lines } = panelOf(operation({ details } as Partial<PendingRequest>))
  expect(lines(40, 8)).toEqual([
    ...["? write notes.md", "  + line 0", "  + line 1", "  + line 2"],
    ...["  … 27 more lines · PgDn", "› allow", "  allow for this session", "  deny · Esc"],
  ])
  for (let page = 0; page < 9; page++) {
    expect(panel.handleKey(KEY.pageDown, true)).toBe(true)
    lines(40, 8)
  }
  expect(lines(40, 8).slice(3, 5)).toEqual(["  + line 29", "  end · PgUp"])
})

test("keys decide while nothing is typed; Esc refuses even then", () => {
  const { panel, decided } = panelOf(operation())
  expect(panel.handleKey(KEY.enter, false)).toBe(false)
  expect(panel.handleKey("y", true)).toBe(false)
  expect(decided).toEqual([])
  panel.handleKey(KEY.enter, true)
  panel.handleKey(KEY.down, true)
  panel.handleKey(KEY.enter, true)
  panel.handleKey(KEY.escape, false)
  expect(decided).toEqual(["allow", "allow_session", "deny"])
})

test("one option of a question is taken by Enter; decisions stand behind the options", () => {
  const { panel, lines, answers } = panelOf(question())
  expect(lines()).toEqual([
    ...["? Which ones?", "› tea · green", "  coffee", "  talk it over first"],
  ])
  panel.handleKey(KEY.down, true)
  panel.handleKey(KEY.enter, true)
  panel.handleKey(KEY.down, true)
  panel.handleKey(KEY.enter, true)
  expect(answers).toEqual([{ chosen: ["coffee"] }, { decision: "discuss" }])
})

test("several options are marked by Space and taken together", () => {
  const { panel, lines, answers } = panelOf(question({ isMultiple: true }))
  panel.handleKey(KEY.space, true)
  panel.handleKey(KEY.down, true)
  panel.handleKey(KEY.space, true)
  expect(lines().slice(1, 3)).toEqual(["  [x] tea · green", "› [x] coffee"])
  panel.handleKey(KEY.enter, true)
  expect(answers).toEqual([{ chosen: ["tea", "coffee"] }])
})

test("the next request begins afresh", () => {
  const { panel, pending, lines, decided } = panelOf(operation(), operation({ id: "op2" }))
  panel.handleKey(KEY.down, true)
  pending.shift()
  expect(lines().at(1)).toBe("› allow")
  panel.handleKey(KEY.enter, true)
  expect(decided).toEqual(["allow"])
})
