/** XQuAD: 240 passages a language, and questions that one passage answers. */
import type { Bench, Context } from "../bench.ts"
import type { Row } from "../report.ts"
import { passageQuestions, passages } from "./data.ts"
import { startMemoryKernel } from "./memory-kernel.ts"
import { judge, LOOKED_AT, mean } from "./retrieval.ts"

export const xquad: Bench = {
  name: "xquad",
  run: async (context) => [
    await one(context, "ru", { min: 0.985, note: "FTS5 .915, Snowball .981, trigrams .976" }),
    await one(context, "en", { min: 0.99, note: "FTS5 .987" }),
  ],
}

async function one(
  context: Context,
  lang: "ru" | "en",
  { min, note }: { min: number; note: string },
): Promise<Row> {
  await using kernel = await startMemoryKernel()
  const texts = passages().filter((passage) => passage.lang === lang)
  // Each passage is about something else: a source of its own says so.
  const ids = await kernel.load(
    texts.map(({ text, pid }) => ({ content: text, source: `xquad/${pid}` })),
  )
  const idOf = new Map(texts.map(({ pid }, index) => [pid, ids[index]!]))
  const questions = passageQuestions().slice(0, context.quick ? 200 : undefined)
  const judged = []
  for (const question of questions) {
    const found = await kernel.search(question[`question_${lang}`], LOOKED_AT)
    judged.push(
      judge(
        found.map(({ id }) => id),
        new Set([idOf.get(question.pid)!]),
      ),
    )
  }
  const { r5, mrr } = mean(judged)
  return {
    ...{
      figure: `XQuAD ${lang} → ${lang}: R@5`,
      measured: r5 * 100,
      unit: "%",
      goal: { min: min * 100 },
    },
    note: `MRR ${mrr.toFixed(3)}, ${judged.length} questions; ${note}`,
  }
}
