import { expect, test } from "bun:test"
import { type EffortWishes, effortFor, hasUltrathink, raisedEffort } from "../../src/llm/effort.ts"

test("LLM-013: the strongest wish wins: send, ultrathink, chat, surface, model entry, global", () => {
  const all: EffortWishes = {
    send: "low",
    ultrathink: true,
    chat: "mid",
    surface: "low",
    entry: "mid",
    global: "off",
  }
  expect(effortFor(all)).toBe("low")
  expect(effortFor({ ...all, send: undefined })).toBe("high")
  const quiet = { ...all, send: undefined, ultrathink: false }
  expect(effortFor(quiet)).toBe("mid")
  expect(effortFor({ ...quiet, chat: "off" })).toBe("off")
  expect(effortFor({ ...quiet, chat: undefined })).toBe("low")
  expect(effortFor({ ...quiet, chat: undefined, surface: undefined })).toBe("mid")
  expect(effortFor({ global: "off" })).toBe("off")
})

test("ultrathink counts as a whole word outside code only", () => {
  for (const text of [
    "ultrathink",
    "Please ULTRATHINK, now",
    "подумай: ultrathink!",
    "`code` ultrathink `code`",
    "```\ncode\n```\nultrathink",
    "a lone ` and ultrathink",
    "``` not a fence ``` ultrathink",
  ])
    expect([text, hasUltrathink(text)]).toEqual([text, true])
  for (const text of [
    "ultrathinking",
    "мегаultrathink",
    "no_ultrathink",
    "say `ultrathink` to me",
    "``a ` ultrathink``",
    "```ts\nultrathink\n```",
    "~~~\nultrathink\n```\nultrathink",
    "````\n```\nultrathink\n````",
    "think",
  ])
    expect([text, hasUltrathink(text)]).toEqual([text, false])
})

test("within a turn effort only rises", () => {
  expect(raisedEffort("low", "high")).toBe("high")
  expect(raisedEffort("high", "low")).toBe("high")
  expect(raisedEffort("off", "off")).toBe("off")
})
