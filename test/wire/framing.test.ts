/** Frames of an event stream, however its bytes are cut. */
import { describe, expect, test } from "bun:test"
import { createFrameParser } from "../../src/llm/frame-parser.ts"
import { FRAMINGS, readLines } from "./support.ts"

interface Framing {
  id: string
  chunks?: string[]
  chunks_b64?: string[]
  expect: { events: { event: string | null; id: string | null; data: string }[] }
}

/** The standard takes one leading byte order mark away; the recording is of a reader that did not. */
const OURS: Record<string, Framing["expect"]["events"]> = {
  "eventsource-parser/InvalidBom": [
    { event: null, id: null, data: "bomful 1" },
    { event: null, id: null, data: "bomless 3" },
    { event: "done", id: null, data: "✔" },
  ],
}

const framings = await readLines<Framing>(FRAMINGS)

const bytesOf = (one: Framing): Uint8Array[] => [
  ...(one.chunks ?? []).map((chunk) => new TextEncoder().encode(chunk)),
  ...(one.chunks_b64 ?? []).map((chunk) => Buffer.from(chunk, "base64")),
]

function framesOf(chunks: Iterable<Uint8Array>) {
  const frames: Framing["expect"]["events"] = []
  const parser = createFrameParser(({ event, id, data }) =>
    frames.push({ event: event ?? null, id: id ?? null, data }),
  )
  for (const chunk of chunks) parser.feed(chunk)
  return { frames, parser }
}

describe.skipIf(framings.length === 0)("framing", () => {
  test("chunks as recorded give the recorded events", () => {
    for (const one of framings) {
      expect({ id: one.id, events: framesOf(bytesOf(one)).frames }).toEqual({
        id: one.id,
        events: OURS[one.id] ?? one.expect.events,
      })
    }
  })

  test("single bytes give the same events", () => {
    for (const one of framings) {
      const bytes = Buffer.concat(bytesOf(one))
      const single = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1))
      expect({ id: one.id, events: framesOf(single).frames }).toEqual({
        id: one.id,
        events: OURS[one.id] ?? one.expect.events,
      })
    }
  })
})

test("a last frame without its blank line counts when the stream has ended", () => {
  const { frames, parser } = framesOf([new TextEncoder().encode('data: {"a":1}')])
  expect(frames).toEqual([])
  parser.end()
  expect(frames).toEqual([{ event: null, id: null, data: '{"a":1}' }])
})

test("a comment is no frame", () => {
  expect(framesOf([new TextEncoder().encode(": OPENROUTER PROCESSING\n\n\n\n")]).frames).toEqual([])
})
