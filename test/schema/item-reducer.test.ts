/** The one reducer: events of a live turn and stored messages give items of the same shape. */
import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import type { TurnEvent } from "../../src/schema/event.ts"
import { Item } from "../../src/schema/item.ts"
import { createItemReducer, itemsOfMessages } from "../../src/schema/item-reducer.ts"
import { forkMarker, MACHINE_TEXT } from "../../src/schema/machine-text.ts"
import type { Block, Message } from "../../src/schema/message.ts"

const imageUrl = (id: string) => `http://eva/images/${id}`
const CREATED = "2026-01-05T10:00:00.000Z"

const message = (id: string, role: Message["role"], blocks: Block[]): Message => ({
  ...{ id, chat_id: "c", turn_id: "t", role, blocks, created_at: CREATED, master: true },
})
const text = (value: string): Block => ({ type: "text", text: value })

/** The item events of a live turn. */
function live(events: readonly TurnEvent[]): TurnEvent[] {
  const reducer = createItemReducer("t")
  return events.flatMap((event) => reducer.push(event))
}

/** What a client holds after the item events: started is drawn, deltas grow it, completed has the last word. */
function drawn(events: readonly TurnEvent[]): Item[] {
  const items = new Map<string, Item>()
  for (const event of events) {
    if (event.type === "item_started" || event.type === "item_completed") {
      items.set(event.item.id, structuredClone(event.item))
    }
    if (event.type !== "item_delta") continue
    const item = items.get(event.id)! as Item & { text?: string; progress?: string }
    if (event.delta.text !== undefined) item.text += event.delta.text
    if (event.delta.progress !== undefined) item.progress = event.delta.progress
  }
  return [...items.values()]
}

/** One turn as it streams: a thought, words, two calls, a picture, the answer. */
const EVENTS: TurnEvent[] = [
  { type: "accepted", message_ids: ["m0"], queued: false },
  { type: "turn_started", model: "opus", effort: "off" },
  { type: "thinking_delta", text: "let me " },
  { type: "thinking_delta", text: "see" },
  { type: "text_delta", text: "I " },
  { type: "text_delta", text: "look" },
  { type: "tool_call", id: "a", name: "shell", input: { cmd: "ls" } },
  { type: "tool_call", id: "b", name: "shell", input: { cmd: "rm" } },
  { type: "tool_progress", id: "a", output: "1" },
  { type: "tool_progress", id: "a", output: "1 2" },
  { type: "tool_result", id: "b", output: "denied", is_error: true },
  { type: "tool_result", id: "a", output: "1 2 3", is_error: false },
  { type: "text_delta", text: "done" },
  { type: "image", id: "i1", media_type: "image/png", url: imageUrl("i1") },
  { type: "done", reason: "end" },
]

/** The same turn as it is stored. */
const MESSAGES: Message[] = [
  {
    ...message("m0", "user", [
      text("what is here?"),
      { type: "image", id: "i0", media_type: "image/png" },
    ]),
    ...{ sender: "p7", ext_id: "12", reply_to_ext_id: "11", reply_to_text: "so?", master: false },
  },
  message("m1", "assistant", [
    { type: "thinking", text: "let me see" },
    { type: "thinking", text: "", redacted: "…" },
    text("I look"),
    { type: "tool_use", id: "a", name: "shell", input: { cmd: "ls" } },
    { type: "tool_use", id: "b", name: "shell", input: { cmd: "rm" } },
  ]),
  message("m2", "user", [{ type: "tool_result", id: "a", output: "1 2 3", is_error: false }]),
  message("m3", "user", [{ type: "tool_result", id: "b", output: "denied", is_error: true }]),
  {
    ...message("m4", "assistant", [
      text("done"),
      { type: "image", id: "i1", media_type: "image/png" },
    ]),
    ...{ model: "opus", closes: ["12"] },
  },
]

describe("a live turn and its history", () => {
  test("ITM-001 ITM-002: give items of one model, with id, kind, status and turn", () => {
    const items = [...drawn(live(EVENTS)), ...itemsOfMessages(MESSAGES, imageUrl)]
    expect(items.length).toBe(13)
    for (const item of items) {
      expect([...Value.Errors(Item, item)]).toEqual([])
      expect(item).toMatchObject({ turn_id: "t" })
      expect(item.kind).toBeString()
      expect(["running", "completed", "failed", "aborted"]).toContain(item.status)
    }
  })

  test("ITM-009: join by call_id and image_id, and then agree in kind, status and body", () => {
    const key = (item: Item) =>
      item.kind === "tool_call" ? item.call_id : item.kind === "image" ? item.image_id : undefined
    const byKey = (items: Item[]) =>
      items.filter(key).map(({ id, ...body }) => ({ ...body, progress: undefined }))
    const past = byKey(itemsOfMessages(MESSAGES, imageUrl))
    expect(byKey(drawn(live(EVENTS)))).toEqual(past)
    expect(past.map((item) => item.status)).toEqual(["completed", "failed", "completed"])
  })

  test("ITM-007: ids are {turn_id}:{n} live and {message_id}:{n} in history, the same at each reading", () => {
    expect(drawn(live(EVENTS)).map((item) => item.id)).toEqual([
      ...["t:0", "t:1", "t:2", "t:3", "t:4", "t:5"],
    ])
    const past = itemsOfMessages(MESSAGES, imageUrl)
    expect(past.map((item) => item.id)).toEqual([
      ...["m0:0", "m1:0", "m1:1", "m1:2", "m1:3", "m4:0", "m4:1"],
    ])
    expect(itemsOfMessages(MESSAGES, imageUrl)).toEqual(past)
  })

  test("ITM-010: what the user said is in history and not in the live feed", () => {
    expect(drawn(live(EVENTS)).some((item) => item.kind === "user_message")).toBe(false)
    expect(itemsOfMessages(MESSAGES, imageUrl)[0]).toEqual({
      ...{ id: "m0:0", status: "completed", turn_id: "t", kind: "user_message" },
      ...{
        text: "what is here?",
        master: false,
        created_at: CREATED,
        sender: "p7",
        images: ["i0"],
      },
      ...{ ext_id: "12", reply_to_ext_id: "11", reply_to_text: "so?" },
    })
  })
})

describe("live items", () => {
  test("ITM-006: text is appended, progress replaced, and the completed item has the last word", () => {
    const events = live(EVENTS)
    expect(
      events.filter((event) => event.type === "item_delta").map((event) => event.delta),
    ).toEqual([
      ...[{ text: "let me " }, { text: "see" }, { text: "I " }, { text: "look" }],
      ...[{ progress: "1" }, { progress: "1 2" }, { text: "done" }],
    ])
    const completed = events.filter((event) => event.type === "item_completed")
    expect(completed.map(({ item }) => item)).toEqual(
      ["t:0", "t:1", "t:3", "t:2", "t:4", "t:5"].map((id) =>
        expect.objectContaining({ id }),
      ) as never,
    )
    expect(completed[3]!.item).toEqual({
      ...{ id: "t:2", kind: "tool_call", status: "completed", turn_id: "t", call_id: "a" },
      ...{ name: "shell", input: { cmd: "ls" }, result: { output: "1 2 3", is_error: false } },
    })
    const spoken = drawn(events).map((item) => ("text" in item ? item.text : item.kind))
    expect(spoken).toEqual(["let me see", "I look", "tool_call", "tool_call", "done", "image"])
  })

  test("each item starts once and is completed once, however the turn ends", () => {
    const ends: TurnEvent[] = [
      { type: "done", reason: "end" },
      { type: "done", reason: "cancelled" },
      { type: "error", message: "no", code: "internal", retryable: false },
    ]
    for (const end of ends) {
      for (let length = 0; length < EVENTS.length; length++) {
        const events = live([...EVENTS.slice(0, length), end])
        const ids = (type: string) =>
          events.flatMap((event) =>
            event.type === type && "item" in event && event.item.kind !== "image"
              ? [event.item.id]
              : [],
          )
        expect(ids("item_started")).toEqual(ids("item_completed").toSorted())
        expect(new Set(ids("item_started")).size).toBe(ids("item_started").length)
      }
    }
  })

  test("the end of a turn closes what is open: aborted calls, and text by how the turn ended", () => {
    const open: TurnEvent[] = [
      { type: "tool_call", id: "a", name: "shell", input: {} },
      { type: "text_delta", text: "half" },
    ]
    const statuses = (end: TurnEvent) => drawn(live([...open, end])).map((item) => item.status)
    expect(statuses({ type: "done", reason: "end" })).toEqual(["aborted", "completed"])
    expect(statuses({ type: "done", reason: "cancelled" })).toEqual(["aborted", "aborted"])
    const error: TurnEvent = { type: "error", message: "no", code: "internal", retryable: false }
    expect(statuses(error)).toEqual(["aborted", "failed"])
  })

  test("a cancelled or interrupted call is aborted, live as in history", () => {
    for (const output of [
      MACHINE_TEXT.call_cancelled.marker,
      MACHINE_TEXT.call_interrupted.marker,
    ]) {
      const [now] = drawn(
        live([
          { type: "tool_call", id: "a", name: "shell", input: {} },
          { type: "tool_result", id: "a", output, is_error: true },
        ]),
      )
      const [past] = itemsOfMessages(
        [
          message("m1", "assistant", [{ type: "tool_use", id: "a", name: "shell", input: {} }]),
          message("m2", "user", [{ type: "tool_result", id: "a", output, is_error: true }]),
        ],
        imageUrl,
      )
      expect([now!.status, past!.status]).toEqual(["aborted", "aborted"])
    }
  })

  test("progress and results of an unknown call draw nothing", () => {
    const strays: TurnEvent[] = [
      { type: "tool_progress", id: "x", output: "1" },
      { type: "tool_result", id: "x", output: "1", is_error: false },
    ]
    expect(live(strays)).toEqual([])
  })
})

describe("history", () => {
  test("a call without a result was cut off; a result without a call draws nothing", () => {
    const items = itemsOfMessages(
      [
        message("m1", "user", [{ type: "tool_result", id: "lost", output: "x", is_error: false }]),
        message("m2", "assistant", [{ type: "tool_use", id: "a", name: "shell", input: {} }]),
      ],
      imageUrl,
    )
    expect(items).toMatchObject([{ id: "m2:0", kind: "tool_call", status: "aborted" }])
  })

  test("ITM-004: the kernel's own message is a machine_note that names its kind", () => {
    const marker = forkMarker("Дом", "m9")
    expect(itemsOfMessages([message("m1", "user", [text(marker)])], imageUrl)).toEqual([
      {
        ...{ id: "m1:0", kind: "machine_note", status: "completed", turn_id: "t" },
        ...{ note: "fork_marker", text: marker },
      },
    ])
  })

  test("ITM-005 FRG-005 FRG-006: each fold marker is one compaction item, never the master's line", () => {
    const fold = text("[compacted] Older history was folded into the chat summary here.")
    const items = itemsOfMessages(
      [
        message("m1", "user", [fold]),
        message("m2", "user", [text("hello")]),
        message("m3", "user", [fold]),
      ],
      imageUrl,
    )
    expect(items.map(({ id, kind }) => [id, kind])).toEqual([
      ["m1:0", "compaction"],
      ["m2:0", "user_message"],
      ["m3:0", "compaction"],
    ])
    expect("text" in items[0]!).toBe(false)
  })

  test("a marker beside other text, or within it, is speech", () => {
    const fold = MACHINE_TEXT.compaction_marker.marker
    for (const blocks of [
      [text(fold), text("so?")],
      [text(`${fold} so?`)],
      [text(`see ${fold}`)],
    ]) {
      const [item] = itemsOfMessages([message("m1", "user", blocks)], imageUrl)
      expect(item!.kind).toBe("user_message")
    }
  })
})
