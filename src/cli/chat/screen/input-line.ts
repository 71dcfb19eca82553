/** The input: the library's editor with commands, completion and the history of one's own words. */
import { Editor, type TUI } from "@earendil-works/pi-tui"
import type { Session, SessionState } from "../session.ts"
import { type Command, readTyped } from "./commands.ts"
import { createCompletion } from "./completion.ts"
import { editorTheme, type Theme } from "./theme.ts"

export interface InputParts {
  tui: TUI
  session: Session
  theme: Theme
  onMessage(text: string): void
  onCommand(command: Command, argument: string): void
  onProblem(text: string): void
}

export interface InputLine {
  readonly editor: Editor
  isEmpty(): boolean
  setText(text: string): void
  /** Puts the own words of the open chat behind the Up key, once for each chat. */
  rememberWords(state: SessionState): void
}

export function createInputLine(parts: InputParts): InputLine {
  const { tui, session, theme } = parts
  const editor = new Editor(tui, editorTheme(theme), { paddingX: 1, autocompleteMaxVisible: 8 })
  editor.setAutocompleteProvider(createCompletion(session))
  editor.onSubmit = (text) => {
    if (text !== "") submit(text, editor, parts)
  }
  let remembered: string | undefined
  return {
    editor,
    isEmpty: () => editor.getText() === "",
    setText: (text) => editor.setText(text),
    rememberWords({ chat, items }) {
      if (chat === undefined || chat.id === remembered || items.length === 0) return
      remembered = chat.id
      for (const item of items)
        if (item.kind === "user_message" && item.master) editor.addToHistory(item.text)
    },
  }
}

function submit(text: string, editor: Editor, parts: InputParts): void {
  const typed = readTyped(text)
  if (typed.kind === "unknown") {
    editor.setText(text)
    parts.onProblem(typed.problem)
    return
  }
  editor.addToHistory(text)
  if (typed.kind === "command") parts.onCommand(typed.command, typed.argument)
  else parts.onMessage(typed.text)
}
