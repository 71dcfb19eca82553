/** Whatever is done from outside a trusted place, nothing private comes out of it. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { createMockEmbedder } from "../../src/llm/mock-embedder.ts"
import { memoryTools } from "../../src/memory/tools.ts"
import { MEMORY_KINDS } from "../../src/schema/memory.ts"
import { guestIdentity, masterIdentity, reachTurn, runTool } from "../support/tools.ts"
import { memoryRig } from "./rig.ts"

const RUNS = 15
const WORDS = ["anna", "violin", "debt", "doctor", "berlin", "cat", "Анна", "скрипка", "врач"]
/** Marks the words of private records; nothing else holds it. */
const SECRET = "sekret"

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 })
const record = fc.record({
  words: text,
  kind: fc.constantFrom(...MEMORY_KINDS),
  private: fc.boolean(),
  speaker: fc.constantFrom("", "Anna: ", "Boris: "),
  source: fc.constantFrom(undefined, "talk"),
})
/** Core, facts and lines of a conversation; found by words, by meaning and through neighbours. */
const life = fc.record({
  records: fc.array(record, { minLength: 1, maxLength: 15 }),
  question: text,
  saved: text,
  withVectors: fc.boolean(),
})

const UNTRUSTED = [
  masterIdentity({ trusted: false }),
  masterIdentity({ trusted: false, agent: true }),
  guestIdentity(),
  // A mark that only code sets: without the master it opens nothing.
  guestIdentity({ trusted: true, privileged: true }),
]

test("MEM-19: no prompt, search, list, neighbour, merge or refusal outside a trusted place holds a private text", async () => {
  await fc.assert(
    fc.asyncProperty(life, async ({ records, question, saved, withVectors }) => {
      const rig = memoryRig(withVectors ? { embedder: createMockEmbedder("m") } : {})
      try {
        for (const { words, speaker, ...more } of records) {
          const content = `${speaker}${words.join(" ")} ${more.private ? SECRET : ""}`.trim()
          const { source, ...rest } = more
          await rig.save(content, { ...rest, dedup: false, ...(source && { source }) })
        }
        await rig.memories.embedded()
        const privateIds = records.flatMap((one, index) => (one.private ? [index + 1] : []))
        for (const identity of UNTRUSTED) {
          const outputs = await everythingFrom(rig, identity, {
            question: question.join(" "),
            saved: saved.join(" "),
            ids: records.map((_, index) => index + 1),
          })
          // The question itself never holds the word, so wherever it stands it leaked.
          expect(outputs.join("\n")).not.toContain(SECRET)
        }
        // Nothing that was tried from outside has changed or removed a private record either.
        for (const id of privateIds)
          expect(rig.memories.get(id, masterIdentity())).toMatchObject({
            private: true,
            importance: 3,
          })
      } finally {
        await rig.dispose()
      }
    }),
    { numRuns: RUNS },
  )
})

async function everythingFrom(
  rig: ReturnType<typeof memoryRig>,
  identity: ReturnType<typeof masterIdentity>,
  tried: { question: string; saved: string; ids: number[] },
): Promise<string[]> {
  const tools = memoryTools(rig.memories)
  const run = async (name: string, input: object): Promise<string> => {
    const tool = tools.find((one) => one.name === name)!
    return (await runTool(tool, input, { turn: reachTurn({ identity }) })).output
  }
  const { question, saved, ids } = tried
  const { section, lines } = await rig.memories.explain(question, identity, true)
  const outputs = [section, JSON.stringify(lines)]
  outputs.push(JSON.stringify(await rig.search(question, identity, 50)))
  outputs.push(await run("memory_search", { query: question, limit: 50 }))
  outputs.push(await run("memory_list", {}))
  outputs.push(await run("memory_save", { content: saved }))
  for (const id of ids.slice(0, 5)) {
    outputs.push(await run("memory_update", { id, importance: 5 }))
    outputs.push(await run("memory_forget", { id }))
  }
  return outputs
}
