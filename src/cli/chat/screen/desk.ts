/** The desk of the commands: each wish opens its box, and what is chosen there goes to the session. */
import type { Session } from "../session.ts"
import { ConfirmBox, TextBox } from "./ask-box.ts"
import type { Attempt, Boxes } from "./boxes.ts"
import { createChatBox } from "./chat-box.ts"
import type { CommandDesk } from "./commands.ts"
import { createContextBox } from "./context-box.ts"
import { HelpBox } from "./help-box.ts"
import {
  createPicker,
  effortChoices,
  folderChoices,
  messageChoices,
  modelChoices,
  type PickOptions,
} from "./pickers.ts"
import { safeLine } from "./safe-text.ts"
import type { Theme } from "./theme.ts"

export interface DeskParts {
  session: Session
  theme: Theme
  boxes: Boxes
  attempt: Attempt
  /** Puts words into the input, as after a rewind. */
  edit(text: string): void
  leave(): void
}

/** What commands and keys open. */
export function createDesk(parts: DeskParts): CommandDesk {
  const { session, theme, boxes, attempt } = parts
  const pick = (options: PickOptions) =>
    boxes.open((close) => createPicker(options, { theme, rows: boxes.listRows, close, attempt }))
  const confirm: CommandDesk["confirm"] = (question, yes) =>
    boxes.open((close) => {
      const onAnswer = (isYes: boolean) => {
        close()
        if (isYes) attempt(yes)
      }
      return new ConfirmBox({ question: safeLine(question), theme, onAnswer })
    })
  const askTitle = () =>
    boxes.open((close) => {
      const initial = session.state().chat?.title ?? ""
      const onSubmit = (title: string) => {
        close()
        attempt(() => session.rename(title))
      }
      return new TextBox({ title: "Title", initial, theme, onSubmit, onClose: close })
    })
  const chats = (bin: boolean) =>
    boxes.open((close) => createChatBox({ session, theme, boxes, attempt, close, confirm }, bin))
  return {
    session,
    confirm,
    askTitle,
    showChats: () => chats(false),
    showBin: () => chats(true),
    showHelp: () => boxes.open((onClose) => new HelpBox({ theme, rows: boxes.textRows, onClose })),
    pickModel: () => pick(modelChoices(session)),
    pickEffort: () => pick(effortChoices(session)),
    pickFolder: () => pick(folderChoices(session)),
    pickMessage: (purpose) => pick(messageChoices(session, purpose, parts.edit)),
    showContext: async () => {
      const report = await session.context()
      if (report === undefined) return session.tell("there is no chat yet")
      boxes.open((close) => createContextBox(report, { theme, rows: boxes.listRows, close }))
    },
    leave: parts.leave,
  }
}
