/** `eva-kernel chat`: talk to a kernel on the full screen, or say one thing and print the answer. */
import { realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { isatty } from "node:tty"
import { stateDirectory } from "../config/data-directory.ts"
import { settledWithin } from "../lib/async.ts"
import { systemClock } from "../lib/clock.ts"
import { type Environment, processEnvironment } from "../lib/environment.ts"
import { KernelError } from "../lib/error.ts"
import { uuidV4 } from "../lib/id.ts"
import type { Effort } from "../schema/effort.ts"
import { ClientError, sentenceOf } from "./chat/client-error.ts"
import { type FoundKernel, findKernel } from "./chat/find-kernel.ts"
import { createKernelClient } from "./chat/kernel-client.ts"
import { createOutput } from "./chat/output.ts"
import { EXIT, runScript } from "./chat/run-script.ts"
import { argumentsOf, type OptionValues } from "./command-line.ts"
import type { StartServing } from "./serve.ts"
import { complain, say } from "./terminal.ts"

type ChatOptions = OptionValues<"chat">

/** Files of clients in the state directory. */
const LAST_CHATS_FILE = "last-chats.json"
const PERMISSIONS_FILE = "permissions.json"
const LOG_FILE = "chat-kernel.log"
/** A turn that runs on holds up the leaving; after so long the user is told why. */
const LEAVING_MS = 300

/** Gives the exit code: 0 answered or left, 1 the turn failed, 2 it could not begin, 130 cancelled. */
export async function runChatCommand(args: string[], start: StartServing): Promise<number> {
  try {
    return await chat(argumentsOf("chat", args).options, start)
  } catch (error) {
    const isExpected = error instanceof ClientError || error instanceof KernelError
    await complain(`eva-kernel: ${isExpected ? error.message.trimEnd() : sentenceOf(error)}\n`)
    const isFault = !isExpected || error.code === "lost" || error.code === "internal"
    return isFault ? EXIT.failed : EXIT.usage
  }
}

async function chat(options: ChatOptions, start: StartServing): Promise<number> {
  const environment = processEnvironment()
  const isScript = options.prompt !== undefined || options.json || options.quiet || !isatty(0)
  checkTogether(options)
  if (isScript && options.code !== undefined)
    throw usage("--code needs the screen: it asks before it acts")
  const text = isScript ? await textToSay(options.prompt) : undefined
  if (text === undefined) await checkTerminal(environment)
  const code = options.code === undefined ? undefined : await codeFolder(options.code)
  const state = stateDirectory(environment)
  const { url, token, config: configFiles } = options
  const logFile = join(state, LOG_FILE)
  const kernel = await findKernel({ url, token, configFiles, environment, start, logFile })
  try {
    const lastChats = join(state, LAST_CHATS_FILE)
    const permissionsFile = join(state, PERMISSIONS_FILE)
    return text === undefined
      ? await talk(options, { kernel, environment, lastChats, permissionsFile, code })
      : await sayOnce(options, { kernel, text, lastChats })
  } finally {
    await leave(kernel)
  }
}

function checkTogether({ chat, last, json, quiet, code, ...options }: ChatOptions): void {
  const places = [
    chat !== undefined && "--chat",
    options.new && "--new",
    last && "--last",
    code !== undefined && "--code",
  ]
  const given = places.filter((name) => name !== false)
  if (given.length > 1) throw usage(`${given.join(" and ")} name different chats: give one`)
  if (json && quiet) throw usage("--json and --quiet are two forms of output: give one")
}

/** The folder of a coding session, links followed. */
async function codeFolder(path: string): Promise<string> {
  const folder = await realpath(path).catch(() => undefined)
  if (folder !== undefined && (await stat(folder)).isDirectory()) return folder
  throw usage(`--code takes a folder, and ${path} is none`)
}

const usage = (message: string): ClientError => new ClientError("usage", message)

/** What was given with -p, what is piped in, or the one before the other. */
async function textToSay(prompt: string | undefined): Promise<string> {
  const { readStdin } = await import("./chat/read-stdin.ts")
  const hint =
    "eva-kernel: waiting for the end of standard input; give < /dev/null to go without it\n"
  const piped = isatty(0) ? "" : await readStdin(() => void complain(hint))
  const parts = [prompt ?? "", piped].filter((part) => part.trim() !== "")
  if (parts.length > 0) return parts.join("\n\n")
  throw usage('there is nothing to say: give it with -p "TEXT", or pipe it in')
}

async function checkTerminal(environment: Environment): Promise<void> {
  if (!isatty(1)) throw usage('the output is no terminal: give what to say with -p "TEXT"')
  const { screenProblem } = await import("./chat/screen/run-screen.ts")
  const { columns = 80, rows = 24 } = process.stdout
  const problem = screenProblem({ columns, rows, name: environment.TERM })
  if (problem !== undefined) throw usage(problem)
}

async function sayOnce(
  options: ChatOptions,
  at: { kernel: FoundKernel; text: string; lastChats: string },
): Promise<number> {
  const { kernel, text } = at
  const form = options.json ? "json" : options.quiet ? "quiet" : "plain"
  const reader = new AbortController()
  const out = createOutput(say, () => reader.abort())
  const err = createOutput(complain)
  if (kernel.remark !== undefined && form === "plain") err.write(`· ${kernel.remark}\n`)
  const interrupts = hearInterrupts()
  try {
    return await runScript({
      ...{ text, form, out, err, clock: systemClock, key: uuidV4(), isTerminal: isatty(1) },
      client: createKernelClient({ address: kernel.address }),
      chatId: options.last ? await lastChatOf(at) : options.chat,
      model: options.model,
      effort: options.effort as Effort | undefined,
      cancel: interrupts.first,
      leave: reader.signal,
    })
  } finally {
    interrupts.stop()
    await Promise.all([out.flush(), err.flush()])
  }
}

async function lastChatOf(at: { kernel: FoundKernel; lastChats: string }): Promise<string> {
  const { lastChatsIn } = await import("./chat/last-chat.ts")
  const chatId = lastChatsIn(at.lastChats).get(at.kernel.name)
  if (chatId !== undefined) return chatId
  throw usage("no chat was open on this machine yet: give --chat ID, or nothing for a new one")
}

/** The first Ctrl-C asks the kernel to end the turn; the second one leaves at once. */
function hearInterrupts(): { first: AbortSignal; stop: () => void } {
  const first = new AbortController()
  const hear = () => {
    if (first.signal.aborted) process.exit(EXIT.cancelled)
    first.abort()
  }
  process.on("SIGINT", hear)
  return { first: first.signal, stop: () => process.off("SIGINT", hear) }
}

async function talk(
  options: ChatOptions,
  at: {
    kernel: FoundKernel
    environment: Environment
    lastChats: string
    permissionsFile: string
    code: string | undefined
  },
): Promise<number> {
  const { kernel, environment, permissionsFile, code } = at
  const [{ runScreen }, { beginSession }] = await Promise.all([
    import("./chat/screen/run-screen.ts"),
    import("./chat/begin-session.ts"),
  ])
  const session = await beginSession({
    ...{ kernel, file: at.lastChats, clock: systemClock, newKey: uuidV4 },
    ...{ environment, permissionsFile, code },
    ...{ chatId: options.chat, isNew: options.new, model: options.model },
    effort: options.effort as Effort | undefined,
  })
  try {
    const { exitCode, fault } = await runScreen({ session, environment, clock: systemClock })
    if (fault !== undefined) await complain(`eva-kernel: ${sentenceOf(fault)}\n`)
    return exitCode
  } finally {
    session.close()
  }
}

/** A kernel of this process lets its running turns end. A closed terminal hears nothing of it. */
async function leave(kernel: FoundKernel): Promise<void> {
  const hear = () => process.exit(EXIT.cancelled)
  process.on("SIGINT", hear)
  const closing = kernel.close()
  if (!(await settledWithin(closing, LEAVING_MS))) {
    const line = "eva-kernel: waiting for the running turn to end; Ctrl-C leaves at once\n"
    await complain(line).catch(() => undefined)
  }
  await closing
  process.off("SIGINT", hear)
}
