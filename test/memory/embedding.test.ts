/** Vectors: filled in the background, never mixed between models, never waited for too long. */
import { afterEach, describe, expect, test } from "bun:test"
import type { Embedder } from "../../src/llm/embedder.ts"
import { createMockEmbedder } from "../../src/llm/mock-embedder.ts"
import { OWNER } from "../../src/memory/memories.ts"
import { dot, SignMatrix, signsOf, toBlob, toUnit } from "../../src/memory/signs.ts"
import { type MemoryRig, memoryRig } from "./rig.ts"

let rig: MemoryRig
afterEach(() => rig.dispose())

/** Texts about pets point one way, texts about money another, whatever their words. */
function topics(model: string, calls: string[][] = []): Embedder {
  return {
    model,
    embed: async (texts) => {
      calls.push([...texts])
      return texts.map((text) => {
        const [pets, money] = [/cat|pet|кошк/i.test(text), /loan|money|деньг/i.test(text)]
        return Float32Array.from([pets ? 1 : 0, money ? 1 : 0, 0.1, model === "two" ? 0.3 : 0])
      })
    },
  }
}

const models = () =>
  rig.store.db
    .query<{ model: string }, []>("SELECT model FROM memory_vectors ORDER BY memory_id")
    .all()
    .map(({ model }) => model)

describe("with an embedding model", () => {
  test("MEM-3: relevance is half words and half closeness, so a text without a common word is found", async () => {
    rig = memoryRig({ embedder: topics("one") })
    await rig.load("Anna has a cat called Barsik", "Boris took a loan", "The garden is wet")
    await rig.memories.embedded()
    const [first, ...rest] = await rig.search("у кого есть кошка?")
    expect(first!.content).toBe("Anna has a cat called Barsik")
    expect(first!.why.lexical).toBe(0)
    expect(first!.why.relevance).toBeCloseTo(first!.why.closeness! / 2, 10)
    expect(rest).toEqual([])
  })

  test("MEM-27: records without a vector, or with another model's, are filled in batches at start", async () => {
    const calls: string[][] = []
    rig = memoryRig()
    const ids = await rig.load(...Array.from({ length: 70 }, (_, i) => `cat number ${i}`))
    const one = rig.build(topics("one", calls))
    await one.embedded()
    expect(calls.map((texts) => texts.length)).toEqual([64, 6])
    expect(new Set(models())).toEqual(new Set(["one"]))
    await one.close()
    const two = rig.build(topics("two"))
    await two.embedded()
    expect(models()).toEqual(ids.map(() => "two"))
    await two.close()
  })

  test("MEM-28: a vector of another model is never compared, whatever its length", async () => {
    rig = memoryRig({ embedder: topics("one") })
    await rig.load("Anna has a cat called Barsik")
    await rig.memories.embedded()
    const broken: Embedder = {
      model: "two",
      embed: async (texts) => {
        // Questions work, filling does not: the only vector there is belongs to the other model.
        if (texts[0]!.startsWith("Anna")) throw new Error("no")
        return [Float32Array.from([1, 0, 0.1, 0])]
      },
    }
    const second = rig.build(broken)
    const hits = await second.search({ text: "pet", limit: 5, reinforce: false }, OWNER)
    expect(hits).toEqual([])
    expect(models()).toEqual(["one"])
    await second.close()
  })

  test("another text loses its vector until it has its own", async () => {
    rig = memoryRig({ embedder: topics("one") })
    await rig.load("Anna has a cat called Barsik")
    await rig.memories.embedded()
    rig.memories.update(1, { content: "Anna took a loan" }, OWNER)
    expect(models()).toEqual([])
    await rig.memories.embedded()
    expect((await rig.search("деньги"))[0]!.content).toBe("Anna took a loan")
    expect(await rig.search("кошка")).toEqual([])
  })

  test("a vector that comes when the text has changed is dropped", async () => {
    const answer = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const slow: Embedder = {
      model: "one",
      embed: async (texts, signal) => {
        const late = texts[0]!.includes("cat")
        if (late) asked.resolve()
        if (late) await answer.promise
        return topics("one").embed(texts, signal)
      },
    }
    rig = memoryRig({ embedder: slow })
    await rig.load("Anna has a cat")
    await asked.promise
    rig.memories.update(1, { content: "Anna took a loan" }, OWNER)
    answer.resolve()
    await rig.memories.embedded()
    expect(await rig.search("кошка")).toEqual([])
    expect(await rig.search("деньги")).toHaveLength(1)
  })

  test("an upstream that fails leaves search by words", async () => {
    const dead: Embedder = { model: "one", embed: () => Promise.reject(new Error("down")) }
    rig = memoryRig({ embedder: dead })
    await rig.load("Anna has a cat")
    const [hit] = await rig.search("cat")
    expect(hit!.why).toMatchObject({ closeness: null, lexical: 1 })
  })

  test("neighbours of a record are found by meaning, too", async () => {
    rig = memoryRig({ embedder: createMockEmbedder("one") })
    await rig.load("Anna lives in Berlin")
    await rig.memories.embedded()
    const { neighbours } = await rig.save("Anna lives in Lisbon")
    expect(neighbours.map(({ id }) => id)).toEqual([1])
  })
})

describe("signs of vectors", () => {
  const random = (seed: number, length: number) => {
    let state = seed
    return toUnit(
      Array.from({ length }, () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0
        return state / 2 ** 31 - 1
      }),
    )!
  }

  test("the nearest by signs hold the nearest by angle", () => {
    rig = memoryRig()
    const vectors = new Map(Array.from({ length: 3000 }, (_, i) => [i + 1, random(i + 1, 256)]))
    const matrix = new SignMatrix(256)
    for (const [id, vector] of vectors) matrix.set(id, toBlob(signsOf(vector)))
    const query = toUnit(vectors.get(77)!.map((part, i) => part + random(5, 256)[i]! * 0.5))!
    const exact = [...vectors].sort((a, b) => dot(b[1], query) - dot(a[1], query)).slice(0, 10)
    const near = new Set(matrix.compare(query).nearest(300, () => true))
    expect(exact.filter(([id]) => near.has(id)).length).toBeGreaterThanOrEqual(9)
    expect(near.has(77)).toBe(true)
    expect(matrix.compare(query).nearest(300, (id) => id !== 77)).not.toContain(77)
  })

  test("rows are replaced and taken out", () => {
    rig = memoryRig()
    const matrix = new SignMatrix(64)
    for (let id = 1; id <= 100; id++) matrix.set(id, toBlob(signsOf(random(id, 64))))
    for (let id = 1; id <= 100; id += 2) matrix.delete(id)
    matrix.set(2, toBlob(signsOf(random(3, 64))))
    expect(matrix.size).toBe(50)
    const [nearest] = matrix.compare(random(3, 64)).nearest(1, () => true)
    expect(nearest).toBe(2)
    expect(
      matrix
        .compare(random(1, 64))
        .nearest(100, () => true)
        .every((id) => id % 2 === 0),
    ).toBe(true)
  })

  test("a vector without direction has no unit", () => {
    rig = memoryRig()
    expect(toUnit([0, 0])).toBeUndefined()
    expect(toUnit([Number.NaN, 1])).toBeUndefined()
    expect([...toUnit([3, 4])!]).toEqual([expect.closeTo(0.6), expect.closeTo(0.8)])
  })
})
