/**
 * The kernel's estimate of tokens against real tokenizers, before anything was learned and after ten answers told the
 * true count. Texts of the public sets, in four scripts.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base"
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base"
import { isObject, parseJson } from "../../../src/lib/json.ts"
import type { ModelRequest } from "../../../src/llm/provider.ts"
import { createTokenEstimator } from "../../../src/llm/tokens.ts"
import { emptyUsage } from "../../../src/schema/usage.ts"
import type { Bench } from "../bench.ts"
import type { Row } from "../report.ts"

const DATA = join(import.meta.dir, "../../../../shared/data")
const CALLS = 10
const TOKENIZERS = [
  { model: "gpt-5", name: "o200k", encode: o200k },
  { model: "gpt-4", name: "cl100k", encode: cl100k },
]

export const tokenEstimate: Bench = {
  name: "token-estimate",
  run: async () => {
    if (!existsSync(DATA)) {
      return [
        { figure: "token estimate", measured: undefined, unit: "%", note: `${DATA} is absent` },
      ]
    }
    const texts = Object.entries(textsOf())
    return TOKENIZERS.flatMap((tokenizer) =>
      texts.flatMap(([language, text]) => rowsFor(tokenizer, language, text)),
    )
  },
}

function rowsFor(
  { model, name, encode }: (typeof TOKENIZERS)[number],
  language: string,
  text: string,
): Row[] {
  const estimator = createTokenEstimator()
  const request: Pick<ModelRequest, "system" | "messages" | "tools" | "images"> = {
    ...{ system: [], tools: [], images: new Map() },
    messages: [{ role: "user", blocks: [{ type: "text", text }] }],
  }
  const truth = encode(JSON.stringify(request.messages)).length
  const off = (): number => 100 * (estimator.request(model, request) / truth - 1)
  const before = off()
  for (let call = 0; call < CALLS; call++) {
    estimator.calibrate(model, request, { ...emptyUsage(), prompt_tokens: truth })
  }
  const after = off()
  const note = `${before > 0 ? "too many" : "too few"}; ${truth} tokens in truth`
  return [
    row(`${name}, ${language}: estimate off by`, Math.abs(before), { max: 20, note }),
    row(`${name}, ${language}: after ten answers`, Math.abs(after), { max: 5, note: "" }),
  ]
}

const row = (
  figure: string,
  measured: number,
  { max, note }: { max: number; note: string },
): Row => ({
  ...{ figure, measured, unit: "%", goal: { max }, note },
})

const lines = (path: string): Record<string, unknown>[] =>
  readFileSync(join(DATA, path), "utf8")
    .trim()
    .split("\n")
    .map((line) => parseJson(line) as Record<string, unknown>)

function textsOf(): Record<string, string> {
  const passages = lines("memory/xquad_passages.jsonl")
  const inLanguage = (lang: string): string =>
    passages.flatMap((passage) => (passage.lang === lang ? [String(passage.text)] : [])).join("\n")
  const trees = lines("apply_patch/apply.jsonl").flatMap(({ before }) =>
    isObject(before) ? Object.values(before) : [],
  )
  const code = trees.flatMap((file) =>
    isObject(file) && typeof file.text === "string" ? [file.text] : [],
  )
  return {
    English: inLanguage("en"),
    Russian: inLanguage("ru"),
    Chinese: chineseText(),
    code: code.join("\n").slice(0, 300_000),
  }
}

/** Of the texts in many encodings those that are Chinese. */
function chineseText(): string {
  const texts = lines("text/encodings.jsonl").map(({ text }) => String(text ?? ""))
  const share = (text: string, script: RegExp): number =>
    (text.match(script) ?? []).length / Math.max(1, text.length)
  return texts
    .filter(
      (text) => share(text, /\p{Script=Han}/gu) > 0.4 && share(text, /\p{Script=Hiragana}/gu) === 0,
    )
    .join("\n")
}
