/**
 * LoCoMo: each conversation is loaded into a kernel of its own, one record a turn, and each question is asked
 * through the search of the API. What counts is how many of the turns that hold the answer are found.
 */
import type { Bench, Context } from "../bench.ts"
import type { Row } from "../report.ts"
import { type LocomoQuestion, type LocomoTurn, locomoQuestions, locomoTurns } from "./data.ts"
import { startEmbeddings } from "./embeddings.ts"
import { type MemoryKernelOptions, startMemoryKernel } from "./memory-kernel.ts"
import { judge, LOOKED_AT, mean, type Quality } from "./retrieval.ts"

interface Judged {
  category: string
  quality: Quality
}

/** What peers and plain methods reach on all ten conversations: R@5, R@10, R@20. */
const PLAIN =
  "plain FTS5 .489 .577 .658; BM25 + Snowball .515 .589 .660; with the turn before .579 .673 .739"

export const locomoLexical: Bench = {
  name: "locomo",
  run: async (context) =>
    rows("LoCoMo, by words", await ask(context), { r5: 0.6, r10: 0.69, r20: 0.76, note: PLAIN }),
}

export const locomoHybrid: Bench = {
  name: "locomo-hybrid",
  run: async (context) => {
    await using embeddings = await startEmbeddings()
    const judged = await ask(context, { embeddings })
    const note = "this model alone .25 .36 .48; with BM25 half and half .54 .63 .70"
    return rows("LoCoMo, hybrid", judged, { r5: 0.65, r10: 0.74, r20: 0.81, note })
  },
}

async function ask(context: Context, options: MemoryKernelOptions = {}): Promise<Judged[]> {
  const turns = Map.groupBy(locomoTurns(), ({ conv }) => conv)
  const questions = Map.groupBy(locomoQuestions(), ({ conv }) => conv)
  const conversations = [...turns.keys()].slice(0, context.quick ? 2 : undefined)
  const judged: Judged[] = []
  for (const conv of conversations) {
    context.say(
      `${conv}: ${turns.get(conv)!.length} turns, ${questions.get(conv)!.length} questions`,
    )
    judged.push(...(await askOne(turns.get(conv)!, questions.get(conv)!, options)))
  }
  return judged
}

async function askOne(
  turns: readonly LocomoTurn[],
  questions: readonly LocomoQuestion[],
  options: MemoryKernelOptions,
): Promise<Judged[]> {
  await using kernel = await startMemoryKernel(options)
  const ids = await kernel.load(
    turns.map((turn) => ({
      content: contentOf(turn),
      source: `${turn.conv}/${turn.session}`,
      created_at: `${turn.date_iso}Z`,
    })),
  )
  if (options.embeddings) await kernel.embedded(turns.length)
  const idOf = new Map(turns.map(({ turn }, index) => [turn, ids[index]!]))
  const judged: Judged[] = []
  for (const { question, category_name, evidence } of questions) {
    const found = (await kernel.search(question, LOOKED_AT)).map(({ id }) => id)
    const wanted = new Set(evidence.flatMap((turn) => idOf.get(turn) ?? []))
    judged.push({ category: category_name, quality: judge(found, wanted) })
  }
  return judged
}

const contentOf = ({ date, speaker, text, image_caption }: LocomoTurn): string =>
  `${date}: ${speaker}: ${text}${image_caption ? ` [${image_caption}]` : ""}`

function rows(
  what: string,
  judged: readonly Judged[],
  { r5, r10, r20, note }: { r5: number; r10: number; r20: number; note: string },
): Row[] {
  const all = mean(judged.map(({ quality }) => quality))
  const row = (name: string, measured: number, min?: number): Row => ({
    ...{ figure: `${what}: ${name}`, measured: measured * 100, unit: "%" },
    ...(min !== undefined && { goal: { min: min * 100 } }),
  })
  const categories = [...Map.groupBy(judged, ({ category }) => category)].sort()
  return [
    { ...row("R@5", all.r5, r5), note: `${all.questions} questions; ${note}` },
    row("R@10", all.r10, r10),
    row("R@20", all.r20, r20),
    row("MRR", all.mrr),
    ...categories.map(([category, members]) => {
      const part = mean(members.map(({ quality }) => quality))
      const figures = [part.r5, part.r10, part.r20, part.mrr]
        .map((value) => value.toFixed(3))
        .join(" / ")
      return {
        ...row(`${category}, R@10`, part.r10),
        note: `R@5 / 10 / 20 / MRR ${figures}, ${part.questions} questions`,
      }
    }),
  ]
}
