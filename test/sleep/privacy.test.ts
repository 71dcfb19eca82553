/** Whatever sleep has done to them, private records come out of no untrusted turn. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { memoryTools } from "../../src/memory/tools.ts"
import { MEMORY_KINDS } from "../../src/schema/memory.ts"
import { consolidateTool } from "../../src/sleep/tools.ts"
import { guestIdentity, masterIdentity, reachTurn, runTool } from "../support/tools.ts"
import { blindPlan } from "./blind-plan.ts"
import { DAY_MS, type SleepRig, sleepRig } from "./rig.ts"

const RUNS = 20
/** Marks the words of private records; nothing else holds it. */
const SECRET = "sekret"
const WORDS = ["anna", "violin", "debt", "doctor", "berlin", "cat", "скрипка", "врач"]

const record = fc.record({
  words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 }),
  kind: fc.constantFrom(...MEMORY_KINDS),
  private: fc.boolean(),
})
/** A plan is drawn blindly from what is shown: most of it is wrong, and some of it is malicious. */
const life = fc.record({
  records: fc.array(record, { minLength: 4, maxLength: 14 }),
  draws: fc.array(fc.nat(1000), { minLength: 40, maxLength: 40 }),
  question: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 }),
})

const UNTRUSTED = [
  masterIdentity({ trusted: false }),
  guestIdentity(),
  guestIdentity({ trusted: true, privileged: true }),
]

test("MEM-19 SLP-24: behind nights of malicious plans no prompt, search, list, neighbour or refusal outside a trusted place holds a private text, and none has become public", async () => {
  await fc.assert(
    fc.asyncProperty(life, async ({ records, draws, question }) => {
      const rig = await sleepRig({ planner: blindPlan(draws), memory: { cluster_jaccard: 0.1 } })
      try {
        for (const { words, ...more } of records) {
          await rig.save(`${words.join(" ")} ${more.private ? SECRET : ""}`.trim(), more)
        }
        for (let night = 0; night < 2; night++) {
          rig.clock.advance(40 * DAY_MS)
          const before = privateIds(rig)
          expect(await rig.night()).toMatchObject({ state: "done" })
          const open = rig.memories.corpus(0, 99).filter(({ row }) => row.private === 0)
          for (const { row } of open) {
            expect(row.content).not.toContain(SECRET)
            expect(before).not.toContain(row.id)
          }
        }
        const outputs: string[] = []
        for (const identity of UNTRUSTED) {
          outputs.push(...(await everythingFrom(rig, identity, question.join(" "))))
        }
        expect(outputs.join("\n")).not.toContain(SECRET)
        await rig.sleep.settled()
      } finally {
        await rig.dispose()
      }
    }),
    { numRuns: RUNS },
  )
}, 60_000)

const privateIds = (rig: SleepRig): number[] =>
  rig.memories.corpus(0, 99).flatMap(({ row }) => (row.private === 1 ? [row.id] : []))

async function everythingFrom(
  rig: SleepRig,
  identity: ReturnType<typeof masterIdentity>,
  question: string,
): Promise<string[]> {
  const { memories, sleep } = rig
  const tools = [...memoryTools(memories), consolidateTool(sleep)]
  const run = async (name: string, input: object): Promise<string> => {
    const tool = tools.find((one) => one.name === name)!
    return (await runTool(tool, input, { turn: reachTurn({ identity }) })).output
  }
  const { section, lines } = await memories.explain(question, identity, true)
  const hits = await memories.search({ text: question, limit: 50, reinforce: false }, identity)
  return [
    ...[section, JSON.stringify(lines), JSON.stringify(hits)],
    await run("memory_search", { query: question, limit: 50 }),
    await run("memory_list", {}),
    await run("memory_save", { content: question }),
    await run("memory_consolidate", {}),
    ...(await Promise.all([1, 2, 3].map((id) => run("memory_forget", { id })))),
  ]
}
