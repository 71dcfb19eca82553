/** `eva-kernel init`: finds a model, tries it, writes configuration and secrets, offers a service. */
import { join, resolve } from "node:path"
import { dataDirectory } from "../../config/data-directory.ts"
import { secretsBeside, userConfigFile } from "../../config/user-files.ts"
import { type Environment, processEnvironment } from "../../lib/environment.ts"
import { errorText, KernelError } from "../../lib/error.ts"
import { randomToken } from "../../lib/id.ts"
import { argumentsOf, type OptionValues } from "../command-line.ts"
import { typedCommand } from "../own-command.ts"
import { complain, say } from "../terminal.ts"
import { type Attempt, type AttemptOptions, attempt } from "./attempt.ts"
import type { CallModel } from "./call-model.ts"
import { type Candidate, findCandidates, MOCK } from "./candidate.ts"
import { chooseCandidate } from "./choose.ts"
import { agreeToService } from "./install-service.ts"
import { type Existing, hasModel, type PlanOptions, readExisting } from "./plan.ts"
import { GivenUp, promptTalk, type Questions, type Talk } from "./questions.ts"
import { shellWord } from "./service.ts"
import { agreeToWrite } from "./write.ts"

const EXIT_OK = 0
const EXIT_NO_ANSWER = 1
const EXIT_WRONG = 2
const EXIT_GIVEN_UP = 130

type Options = OptionValues<"init">

/** Gives the exit code. */
export async function runInitCommand(args: string[], call: CallModel): Promise<number> {
  try {
    const { options } = argumentsOf("init", args)
    const environment = processEnvironment()
    const path = configPath(options.config, environment)
    const talk = options.yes ? plainTalk() : await personalTalk()
    return await setUp({ options, environment, path, talk, call })
  } catch (error) {
    if (error instanceof GivenUp) {
      await complain("eva-kernel: given up, and nothing was written\n")
      return EXIT_GIVEN_UP
    }
    if (!(error instanceof KernelError)) throw error
    await complain(`eva-kernel: ${errorText(error).trimEnd()}\n`)
    return EXIT_WRONG
  }
}

function configPath(named: string | undefined, environment: Environment): string {
  if (named === undefined) return userConfigFile(environment)
  const path = resolve(named)
  if (!/\.ya?ml$/i.test(path)) {
    throw new KernelError("config", `init writes YAML, so ${named} must end in .yaml`)
  }
  if (path === secretsBeside(path)) {
    throw new KernelError("config", `${named} is where init keeps the secrets; name another file`)
  }
  return path
}

async function personalTalk(): Promise<Talk> {
  if (process.stdin.isTTY && process.stdout.isTTY) return promptTalk()
  throw new KernelError(
    "config",
    "init asks questions and needs a terminal; eva-kernel init --yes asks none",
  )
}

const plainTalk = (): Talk => ({
  tell: (line) => say(`${line}\n`),
  warn: (line) => complain(`warning: ${line}\n`),
  during: (_what, work) => work,
})

interface Setup {
  options: Options
  environment: Environment
  path: string
  talk: Talk
  call: CallModel
}

async function setUp(setup: Setup): Promise<number> {
  const { options, environment, path, talk } = setup
  const existing = await readExisting(path)
  const { plan, failure } = await findAnswer(setup, existing)
  const writeConfig = await agreeToWrite(plan.config, talk)
  const writeSecrets = await agreeToWrite(plan.secrets, talk)
  const service = await agreeToService({
    ...{ talk, environment, wanted: options.service },
    files: [plan.config.path, plan.secrets.path],
  })
  // The last question is answered: until here nothing was written.
  for (const write of [writeConfig, writeSecrets, service.write]) await write()
  await talk.tell(nextCommands(setup, service.startCommand))
  return failure === undefined ? EXIT_OK : EXIT_NO_ANSWER
}

/** Until a model answers, or whoever is asked keeps one that does not. */
async function findAnswer(setup: Setup, existing: Existing): Promise<Attempt> {
  const { options, environment, talk, call } = setup
  const token = randomToken()
  const base: Omit<PlanOptions, "candidate"> = {
    ...{ existing, environment, replace: false },
    database: join(dataDirectory(environment), "eva.db"),
    newToken: () => token,
  }
  const tried = (plan: PlanOptions): AttemptOptions => ({
    ...{ talk, plan },
    call: options["no-call"] ? undefined : call,
  })
  if (!talk.questions) {
    if (hasModel(existing)) return attempt(tried(base))
    const found = await findAndTell(environment, talk)
    return firstAnswer(found.length > 0 ? found : [MOCK], (candidate) =>
      attempt(tried({ ...base, candidate })),
    )
  }
  return askUntilAnswered(talk.questions, existing, async (replace) => {
    if (replace === "keep") return attempt(tried(base))
    const found = await findAndTell(environment, talk)
    const candidate = await chooseCandidate(found, talk.questions!)
    return attempt(tried({ ...base, candidate, replace: replace === "replace" }))
  })
}

async function findAndTell(environment: Environment, talk: Talk): Promise<Candidate[]> {
  const found = await talk.during("Looking for models", findCandidates(environment))
  await talk.tell(
    found.length > 0
      ? `Found ${found.map(({ name, why }) => `${name} (${why})`).join(", ")}`
      : "Found no API key in the environment and no model server on this machine",
  )
  return found
}

/** The first that answers; when none does, the first of them. */
async function firstAnswer(
  candidates: readonly Candidate[],
  tryOut: (candidate: Candidate) => Promise<Attempt>,
): Promise<Attempt> {
  let first: Attempt | undefined
  for (const candidate of candidates) {
    const made = await tryOut(candidate)
    if (made.failure === undefined) return made
    first ??= made
  }
  return first!
}

async function askUntilAnswered(
  questions: Questions,
  existing: Existing,
  tryOut: (how: "keep" | "replace" | "fill") => Promise<Attempt>,
): Promise<Attempt> {
  const there = hasModel(existing)
  let keep =
    there &&
    (await questions.choose("There is a configuration already.", [
      { value: true, label: "Keep its model, add what is missing" },
      { value: false, label: "Choose another model" },
    ]))
  for (;;) {
    const made = await tryOut(keep ? "keep" : there ? "replace" : "fill")
    if (made.failure === undefined) return made
    const next = await questions.choose("What now?", [
      { value: "again", label: "Choose again" },
      { value: "keep", label: "Write it down all the same" },
      { value: "stop", label: "Stop here" },
    ])
    if (next === "stop") throw new GivenUp("stopped")
    if (next === "keep") return made
    keep = false
  }
}

function nextCommands({ options, path }: Setup, start: string | undefined): string {
  const command = typedCommand().map(shellWord).join(" ")
  const files = options.config === undefined ? [] : [path, secretsBeside(path)]
  const named = files.map((file) => ` --config ${shellWord(file)}`).join("")
  return [
    "Next:",
    `  ${command} chat${named}`,
    `      talk to it`,
    `  ${start ?? `${command} serve${named}`}`,
    start ? "      keep it running, now and after every login" : "      keep it running",
    `  ${command} config check${named}`,
    `      after every change of ${path}`,
  ].join("\n")
}
