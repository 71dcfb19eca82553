/**
 * Counts line ends as fast as bytes come from the page cache, about 10 GB/s: sixteen bytes a step, which
 * JavaScript cannot do. The whole WebAssembly module (assembled with wat2wasm):
 *
 *   (module (memory (export "memory") 64)
 *     (func (export "count") (param $at i32) (param $end i32) (result i32)
 *       (local $lines i32) (local $newline v128)
 *       (local.set $newline (i8x16.splat (i32.const 10)))
 *       (block $done (loop $next
 *         (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
 *         (local.set $lines (i32.add (local.get $lines) (i32.popcnt (i8x16.bitmask
 *           (i8x16.eq (v128.load (local.get $at)) (local.get $newline))))))
 *         (local.set $at (i32.add (local.get $at) (i32.const 16)))
 *         (br $next)))
 *       (local.get $lines)))
 */

const MODULE =
  "AGFzbQEAAAABBwFgAn9/AX8DAgEABQMBAEAHEgIGbWVtb3J5AgAFY291bnQAAAo4ATYCAX8Be0EK/Q8hAwJAA0AgACABTw0BIAIgAP0ABAAgA/0j/WRpaiECIABBEGohAAwACwsgAgs="
const STEP_BYTES = 16

export interface NewlineCounter {
  /** Put bytes here to have them counted. */
  readonly buffer: Uint8Array<ArrayBuffer>
  /** Line ends among the first `length` bytes of the buffer. */
  count(length: number): number
}

/** @param bytes size of the buffer, at most 4 MiB less one step */
export function createNewlineCounter(bytes: number): NewlineCounter {
  const module = new WebAssembly.Module(Buffer.from(MODULE, "base64"))
  const { memory, count } = new WebAssembly.Instance(module).exports as {
    memory: WebAssembly.Memory
    count(at: number, end: number): number
  }
  const all = new Uint8Array(memory.buffer as ArrayBuffer)
  return {
    buffer: all.subarray(0, bytes),
    count: (length) => {
      // The last step reads past the end.
      all.fill(0, length, length + STEP_BYTES)
      return count(0, length)
    },
  }
}
