/** What `eva-kernel init` asks a person, through @clack/prompts, which loads with the first question. */

/** A server may list hundreds of models. */
const SHOWN_MAX = 12

/** Somebody gave up at a question. */
export class GivenUp extends Error {
  override readonly name = "GivenUp"
}

export interface Option<Value> {
  value: Value
  label: string
  hint?: string
}

/** Each throws GivenUp on Ctrl-C and Esc. */
export interface Questions {
  choose<Value>(message: string, options: readonly Option<Value>[]): Promise<Value>
  /** Never shown while it is typed; not empty. */
  secret(message: string): Promise<string>
  /** `check` gives a complaint or nothing. */
  text(
    message: string,
    check: (text: string) => string | undefined,
    placeholder?: string,
  ): Promise<string>
  agree(message: string, initial: boolean): Promise<boolean>
}

/** How init speaks: to a person who can answer, or in plain lines that a machine may keep. */
export interface Talk {
  /** Absent: nobody is there to be asked. */
  questions?: Questions
  tell(line: string): Promise<void>
  warn(line: string): Promise<void>
  /** Shows that something takes its time. */
  during<Result>(what: string, work: Promise<Result>): Promise<Result>
}

export async function promptTalk(): Promise<Talk> {
  const clack = await import("@clack/prompts")
  const answered = <Answer>(answer: Answer): Exclude<Answer, symbol> => {
    if (clack.isCancel(answer)) throw new GivenUp("given up")
    return answer as Exclude<Answer, symbol>
  }
  clack.intro("eva-kernel")
  return {
    questions: {
      choose: async (message, options) => {
        // Clack wants plain values to compare; a place in the list is one.
        const shown = options.map(({ label, hint }, value) => ({
          value,
          label,
          ...(hint && { hint }),
        }))
        return options[
          answered(await clack.select({ message, options: shown, maxItems: SHOWN_MAX }))
        ]!.value
      },
      secret: async (message) =>
        answered(
          await clack.password({
            message,
            validate: (text) => (text?.trim() ? undefined : "it cannot be empty"),
          }),
        ).trim(),
      text: async (message, check, placeholder) =>
        answered(
          await clack.text({
            message,
            validate: (text) => check(text?.trim() ?? ""),
            ...(placeholder && { placeholder }),
          }),
        ).trim(),
      agree: async (message, initial) =>
        answered(await clack.confirm({ message, initialValue: initial })),
    },
    tell: async (line) => clack.log.info(line),
    warn: async (line) => clack.log.warn(line),
    during: async (what, work) => {
      const spinner = clack.spinner()
      spinner.start(what)
      try {
        return await work
      } finally {
        spinner.stop(what)
      }
    },
  }
}
