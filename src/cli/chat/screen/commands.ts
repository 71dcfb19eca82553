/**
 * The commands of the input line: the one table behind running, completion, help and the guide. What a
 * command does is told in terms of `CommandDesk`, so this file knows no terminal.
 */
import { nearest } from "../../../lib/text.ts"
import { EFFORT_LEVELS, type Effort } from "../../../schema/effort.ts"
import type { Session } from "../session.ts"

/** What commands may do beside the session: open lists, say a word, leave. */
export interface CommandDesk {
  session: Session
  showChats(): void
  showBin(): void
  showHelp(): void
  pickModel(): void
  pickEffort(): void
  pickFolder(): void
  pickMessage(purpose: "fork" | "rewind"): void
  showContext(): Promise<void>
  askTitle(): void
  confirm(question: string, yes: () => Promise<void>): void
  leave(): void
}

export interface Command {
  name: string
  /** Shown behind the name, such as `TITLE`. */
  argument?: string
  about: string
  /** What may stand as its argument, for completion. */
  choices?(session: Session): readonly string[]
  run(desk: CommandDesk, argument: string): Promise<void> | void
}

/** Takes back a choice: the kernel's own model, the model's own effort, the inbox. */
const DEFAULT = "default"

const orNull = (argument: string): string | null => (argument === DEFAULT ? null : argument)

export const COMMANDS: readonly Command[] = [
  {
    name: "new",
    about: "start a new chat",
    run: ({ session }) => session.newChat(),
  },
  {
    name: "chats",
    about: "list, search and open chats",
    run: (desk) => desk.showChats(),
  },
  {
    name: "rename",
    argument: "TITLE",
    about: "give this chat a title",
    run: (desk, title) => (title === "" ? desk.askTitle() : desk.session.rename(title)),
  },
  {
    name: "folder",
    argument: "NAME",
    about: "move this chat to a folder; default is the inbox",
    choices: (session) => [DEFAULT, ...session.state().folders.map(({ folder }) => folder)],
    run: (desk, name) => (name === "" ? desk.pickFolder() : desk.session.move(orNull(name))),
  },
  {
    name: "fork",
    about: "open a new chat with everything before a message",
    run: (desk) => desk.pickMessage("fork"),
  },
  {
    name: "rewind",
    about: "erase a message and all after it, and edit it again",
    run: (desk) => desk.pickMessage("rewind"),
  },
  {
    name: "delete",
    about: "put this chat into the bin",
    run: (desk) => {
      const { chat } = desk.session.state()
      if (chat === undefined) return
      desk.confirm(`Put "${chat.title || "this chat"}" into the bin?`, () => desk.session.remove())
    },
  },
  {
    name: "restore",
    about: "take a chat out of the bin",
    run: (desk) => desk.showBin(),
  },
  {
    name: "model",
    argument: "NAME",
    about: "choose who answers in this chat",
    choices: (session) => [DEFAULT, ...(session.state().models?.models ?? [])],
    run: (desk, name) => (name === "" ? desk.pickModel() : desk.session.setModel(orNull(name))),
  },
  {
    name: "effort",
    argument: "LEVEL",
    about: "choose how hard the model thinks",
    choices: () => [DEFAULT, ...EFFORT_LEVELS],
    run: (desk, level) => (level === "" ? desk.pickEffort() : setEffort(desk.session, level)),
  },
  {
    name: "context",
    about: "show what fills the prompt, piece by piece",
    run: (desk) => desk.showContext(),
  },
  {
    name: "compact",
    about: "fold older history into a summary now",
    run: async ({ session }) => {
      session.tell("older history is being folded into a summary …")
      session.tell(await session.compact())
    },
  },
  {
    name: "undo",
    about: "take back the files that the last turn wrote",
    run: async ({ session }) => session.tell(await session.undo()),
  },
  {
    name: "help",
    about: "show keys and commands",
    run: (desk) => desk.showHelp(),
  },
  {
    name: "quit",
    about: "leave; what runs goes on without you",
    run: (desk) => desk.leave(),
  },
]

function setEffort(session: Session, level: string): Promise<void> {
  if (level === DEFAULT) return session.setEffort(null)
  if (isEffort(level)) return session.setEffort(level)
  throw new Error(`no effort ${level}: one of ${EFFORT_LEVELS.join(", ")}, or ${DEFAULT}`)
}

const isEffort = (level: string): level is Effort =>
  (EFFORT_LEVELS as readonly string[]).includes(level)

export type Typed =
  | { kind: "message"; text: string }
  | { kind: "command"; command: Command; argument: string }
  | { kind: "unknown"; problem: string }

/**
 * What was typed. A slash and a word are a command; `//word` and `/usr/bin` are messages, since no command
 * has a second slash.
 */
export function readTyped(text: string): Typed {
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) }
  const [, name, argument = ""] = /^\/([a-z]*)(?:[ \t]+([^\n]*))?$/.exec(text) ?? []
  if (name === undefined) return { kind: "message", text }
  const command = COMMANDS.find((one) => one.name === name)
  if (command) return { kind: "command", command, argument: argument.trim() }
  const near = nearest(
    name,
    COMMANDS.map((one) => one.name),
  )
  const advice = near ? `did you mean /${near}?` : "/help lists them"
  return { kind: "unknown", problem: `no command /${name}: ${advice}` }
}
