/** The public sets of questions that recall is measured by. They lie beside the repository. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** `EVA_MEMORY_DATA` names another place. */
const FOLDER =
  process.env.EVA_MEMORY_DATA ?? join(import.meta.dir, "../../../../shared/data/memory")

export const whyNoData = (): string | undefined =>
  existsSync(FOLDER) ? undefined : `${FOLDER} is not here: EVA_MEMORY_DATA names another place`

export interface LocomoTurn {
  conv: string
  /** `D1:3`, as evidence names it. */
  turn: string
  session: number
  speaker: string
  date: string
  date_iso: string
  text: string
  image_caption?: string
}

export interface LocomoQuestion {
  conv: string
  question: string
  category_name: string
  evidence: string[]
}

export interface Passage {
  pid: string
  lang: "ru" | "en"
  text: string
}

export interface PassageQuestion {
  pid: string
  question_ru: string
  question_en: string
}

export const locomoTurns = () => readLines<LocomoTurn>("locomo_turns.jsonl")
/** Those that name their evidence. */
export const locomoQuestions = () =>
  readLines<LocomoQuestion>("locomo_questions.jsonl").filter(({ evidence }) => evidence.length > 0)
export const passages = () => readLines<Passage>("xquad_passages.jsonl")
export const passageQuestions = () => readLines<PassageQuestion>("xquad_questions.jsonl")

const readLines = <T>(name: string): T[] =>
  readFileSync(join(FOLDER, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T)
