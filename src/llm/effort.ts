/** How hard the model of a turn thinks: which of the many wishes wins. Pure. */
import { EFFORT_LEVELS, type Effort } from "../schema/effort.ts"

export interface EffortWishes {
  /** `effort` of the message that was sent: for this turn alone. */
  send?: Effort | undefined
  /** The master wrote the word in this message (`hasUltrathink`). */
  ultrathink?: boolean | undefined
  /** The setting of the chat. */
  chat?: Effort | undefined
  /** The default of the surface that sent the message. */
  surface?: Effort | undefined
  /** `effort` of the model's entry. */
  entry?: Effort | undefined
  /** `llm.reasoning`. */
  global: Effort
}

/** The strongest wish that was made; the order is that of `EffortWishes`. */
export function effortFor(wishes: EffortWishes): Effort {
  return (
    wishes.send ??
    (wishes.ultrathink ? "high" : undefined) ??
    wishes.chat ??
    wishes.surface ??
    wishes.entry ??
    wishes.global
  )
}

/** The higher of two levels: within a turn effort only rises. */
export function raisedEffort(current: Effort, wish: Effort): Effort {
  return EFFORT_LEVELS.indexOf(wish) > EFFORT_LEVELS.indexOf(current) ? wish : current
}

const WORD = /(?<![\p{L}\p{N}_])ultrathink(?![\p{L}\p{N}_])/iu

/** True when the text holds `ultrathink` as a whole word outside code spans and fenced code. */
export const hasUltrathink = (text: string): boolean =>
  WORD.test(text) && WORD.test(withoutCode(text))

/** Fences and spans as CommonMark 0.31 has them (sections 4.5 and 6.1); an open fence runs to the end. */
function withoutCode(text: string): string {
  const prose: string[] = []
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const [, mark = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (fence !== undefined) {
      if (mark.startsWith(fence) && rest.trim() === "") fence = undefined
    } else if (mark !== "" && !(mark.startsWith("`") && rest.includes("`"))) {
      fence = mark
    } else {
      prose.push(line)
    }
  }
  return prose.join("\n").replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, " ")
}
