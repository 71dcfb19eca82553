/** Bytes of an event stream to its frames: one streaming text decoder, one SSE parser. */
import { createParser, type EventSourceMessage } from "eventsource-parser"

/** A picture comes as one frame; nothing else is near this size. */
const FRAME_MAX_CHARS = 64 * 1024 * 1024

export interface FrameParser {
  /** Parses what is complete and calls back for each frame, synchronously. Comments call nothing. */
  feed(bytes: Uint8Array): void
  /** The last byte has come: a frame without its blank line counts too. */
  end(): void
}

/** Throws from `feed` when a frame is over its limit. */
export function createFrameParser(onFrame: (frame: EventSourceMessage) => void): FrameParser {
  // The parser takes the byte order mark away itself, and only at the very start.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const parser = createParser({
    onEvent: onFrame,
    maxBufferSize: FRAME_MAX_CHARS,
    onError: (error) => {
      // The other kinds are fields that the format tells readers to ignore.
      if (error.type === "max-buffer-size-exceeded") throw error
    },
  })
  return {
    feed: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    end: () => parser.feed(`${decoder.decode()}\n\n`),
  }
}
