import { expect, test } from "bun:test"
import { deferred } from "../../src/lib/async.ts"
import { createProgress, PROGRESS_LIMITS } from "../../src/tools/progress.ts"

const plain = (text: string) => text

/** Collects what is sent; `reached(n)` resolves when n snapshots have come. */
function collector() {
  const seen: { at: number; output: string }[] = []
  const waiting = new Map<number, () => void>()
  return {
    seen,
    outputs: () => seen.map((one) => one.output),
    emit: (output: string) => {
      seen.push({ at: performance.now(), output })
      waiting.get(seen.length)?.()
    },
    reached: (count: number) => {
      const { promise, resolve } = deferred()
      waiting.set(count, resolve)
      if (seen.length >= count) resolve()
      return promise
    },
  }
}

test("TOOL-32: the first snapshot goes at once, then the newest of each quarter second", async () => {
  const sink = collector()
  const progress = createProgress({ emit: sink.emit, redact: plain })
  for (let i = 0; i < 1000; i++) progress.push(`snapshot ${i}`)
  expect(sink.outputs()).toEqual(["snapshot 0"])
  await sink.reached(2)
  progress.close()
  expect(sink.outputs()).toEqual(["snapshot 0", "snapshot 999"])
  expect(sink.seen[1]!.at - sink.seen[0]!.at).toBeGreaterThan(PROGRESS_LIMITS.intervalMs - 10)
})

test("TOOL-32: a call sends a limited number of snapshots", async () => {
  const sink = collector()
  const limits = { ...PROGRESS_LIMITS, intervalMs: 0, count: 5 }
  const progress = createProgress({ emit: sink.emit, redact: plain, limits })
  for (let i = 0; i < 20; i++) {
    progress.push(String(i))
    await Bun.sleep(2)
  }
  progress.close()
  expect(sink.seen).toHaveLength(5)
})

test("TOOL-32: a snapshot is the tail, cut on a character and counted in bytes", () => {
  const sink = collector()
  const progress = createProgress({ emit: sink.emit, redact: plain })
  progress.push(`start${"я".repeat(5000)}${"😀".repeat(1000)}!`)
  progress.close()
  const [output] = sink.outputs()
  expect(Buffer.byteLength(output!)).toBeLessThanOrEqual(PROGRESS_LIMITS.tailBytes)
  expect(Buffer.byteLength(output!)).toBeGreaterThan(PROGRESS_LIMITS.tailBytes - 4)
  expect(output).toMatch(/^я+😀+!$/u)
})

test("secrets go before anything is sent, one that the cut would halve as well", () => {
  const sink = collector()
  const secret = `key-${"k".repeat(300)}`
  const redact = (text: string) => text.replaceAll(secret, "[redacted]")
  const progress = createProgress({ emit: sink.emit, redact })
  progress.push(`${"x".repeat(20_000)}${secret}${"y".repeat(PROGRESS_LIMITS.tailBytes - 100)}`)
  progress.close()
  expect(sink.outputs()[0]).not.toContain("kkk")
  expect(sink.outputs()[0]).toContain("[redacted]")
})

test("nothing is sent after the close", async () => {
  const sink = collector()
  const limits = { ...PROGRESS_LIMITS, intervalMs: 5 }
  const progress = createProgress({ emit: sink.emit, redact: plain, limits })
  progress.push("one")
  progress.push("two")
  progress.close()
  progress.push("three")
  await Bun.sleep(20)
  expect(sink.outputs()).toEqual(["one"])
})
