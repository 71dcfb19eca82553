import { describe, expect, test } from "bun:test"
import { deferred, keyedQueue, settledWithin, sleep } from "../../src/lib/async.ts"

describe("sleep", () => {
  test("ends in its time, and at once for nothing or less", async () => {
    const start = performance.now()
    await sleep(20)
    expect(performance.now() - start).toBeGreaterThanOrEqual(19)
    await sleep(0)
    await sleep(-1)
    await sleep(Number.NaN)
  })

  test("an abort ends it without an error, before it began or while it lasts", async () => {
    await sleep(60_000, AbortSignal.abort())
    const controller = new AbortController()
    const slept = sleep(60_000, controller.signal)
    controller.abort()
    await slept
  })

  test("longer than one timer can hold it still lasts", async () => {
    for (const ms of [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY]) {
      const controller = new AbortController()
      const slept = sleep(ms, controller.signal)
      expect(await settledWithin(slept, 5)).toBe(false)
      controller.abort()
      await slept
    }
  })

  test("leaves no listener on the signal behind", async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: unknown[]) => {
      listeners++
      addEventListener.apply(signal, args as never)
    }
    signal.removeEventListener = (...args: unknown[]) => {
      listeners--
      removeEventListener.apply(signal, args as never)
    }
    await sleep(2, signal)
    expect(listeners).toBe(0)
  })
})

describe("settledWithin", () => {
  test("says whether the promise settled, however it did", async () => {
    expect(await settledWithin(Promise.resolve(), 60_000)).toBe(true)
    expect(await settledWithin(Promise.reject(new Error("x")), 60_000)).toBe(true)
    expect(await settledWithin(deferred().promise, 1)).toBe(false)
  })

  test("a limit of nothing still sees what is settled, and a huge one waits", async () => {
    expect(await settledWithin(Promise.all([Promise.resolve()]), 0)).toBe(true)
    const { promise, resolve } = deferred()
    const settled = settledWithin(promise, 2 ** 40)
    await sleep(2)
    resolve()
    expect(await settled).toBe(true)
  })
})

describe("keyedQueue", () => {
  test("runs the works of one key in order, one at a time, and other keys beside them", async () => {
    const queue = keyedQueue<string>()
    const order: string[] = []
    const [first, second] = [deferred(), deferred()]
    const work = (name: string, until: Promise<void>) => async () => {
      order.push(`${name} begins`)
      await until
      order.push(`${name} ends`)
      return name
    }
    const all = [
      queue.run("a", work("a1", first.promise)),
      queue.run("a", work("a2", second.promise)),
      queue.run("b", work("b1", Promise.resolve())),
    ]
    expect([queue.depth("a"), queue.depth("b"), queue.depth("c")]).toEqual([2, 1, 0])
    await all[2]
    expect(order).toEqual(["a1 begins", "b1 begins", "b1 ends"])
    second.resolve()
    first.resolve()
    expect(await Promise.all(all)).toEqual(["a1", "a2", "b1"])
    expect(order.slice(3)).toEqual(["a1 ends", "a2 begins", "a2 ends"])
  })

  test("a work that fails fails alone, also when it throws at once", async () => {
    const queue = keyedQueue<string>()
    const failed = queue.run("a", async () => {
      throw new Error("late")
    })
    const thrown = queue.run("a", () => {
      throw new Error("at once")
    })
    const fine = queue.run("a", async () => "fine")
    await expect(failed).rejects.toThrow("late")
    await expect(thrown).rejects.toThrow("at once")
    expect(await fine).toBe("fine")
  })

  test("the depth is down by the time a work is known to be over, and an empty queue is forgotten", async () => {
    const queue = keyedQueue<string>()
    for (let round = 0; round < 3; round++) {
      await queue.run("a", async () => {})
      expect(queue.depth("a")).toBe(0)
    }
  })

  test("a work may queue another one of its key", async () => {
    const queue = keyedQueue<string>()
    const order: string[] = []
    let inner: Promise<void> | undefined
    await queue.run("a", async () => {
      inner = queue.run("a", async () => void order.push("inner"))
      order.push("outer")
    })
    await inner
    expect(order).toEqual(["outer", "inner"])
  })
})
