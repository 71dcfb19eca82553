/** Lists of what there is to choose: models, efforts, folders, messages. */
import type { Session } from "../session.ts"
import type { Attempt } from "./boxes.ts"
import { type Choice, ListBox, type ListBoxOptions } from "./list-box.ts"
import { safeLine } from "./safe-text.ts"

export interface PickOptions {
  title: string
  choices: readonly Choice[]
  initial?: string
  empty: string
  take(id: string): Promise<void> | void
}

export function createPicker(
  options: PickOptions,
  around: Pick<ListBoxOptions, "theme" | "rows"> & {
    close(): void
    attempt: Attempt
  },
): ListBox {
  const { title, choices, initial, empty, take } = options
  return new ListBox({
    theme: around.theme,
    rows: around.rows,
    title: () => title,
    choices: () => choices,
    ...(initial !== undefined && { initial }),
    empty: () => empty,
    keys: "Enter take · Esc leave",
    onClose: around.close,
    onChoose({ id }) {
      around.close()
      around.attempt(() => take(id))
    },
  })
}

/** The id of the choice that takes a setting back; no name is empty. */
const NOTHING = ""

export function modelChoices(session: Session): PickOptions {
  const { models, model } = session.state()
  const hint = (name: string) => {
    const window = models?.context_windows[name]
    return [models?.descriptions[name], window && `${Math.round(window / 1000)}k`]
      .filter(Boolean)
      .join(" · ")
  }
  const named = (models?.models ?? []).map((id) => ({ id, label: safeLine(id), hint: hint(id) }))
  const general = { id: NOTHING, label: "default", hint: models?.default ?? "" }
  return {
    title: "Model of this chat",
    choices: [general, ...named],
    initial: model,
    empty: "no model by that name",
    take: (id) => session.setModel(id === NOTHING ? null : id),
  }
}

export function effortChoices(session: Session): PickOptions {
  const { models, effort } = session.state()
  const levels = (models?.effort_levels ?? []).map((id) => ({ id, label: id }))
  return {
    title: "Effort of this chat",
    choices: [{ id: NOTHING, label: "default", hint: "the model's own" }, ...levels],
    initial: effort,
    empty: "no such level",
    take: (id) => session.setEffort(models?.effort_levels.find((level) => level === id) ?? null),
  }
}

export function folderChoices(session: Session): PickOptions {
  const { folders, chat } = session.state()
  const shelves = folders
    .filter(({ folder }) => folder !== "default")
    .map(({ folder, chats }) => ({
      id: folder,
      label: safeLine(folder),
      hint: `${chats} ${chats === 1 ? "chat" : "chats"}`,
    }))
  return {
    title: "Move to folder",
    choices: [{ id: NOTHING, label: "default", hint: "the inbox" }, ...shelves],
    ...(chat && { initial: chat.folder }),
    empty: "no such folder: /folder NAME makes one",
    take: (id) => session.move(id === NOTHING ? null : id),
  }
}

export function messageChoices(
  session: Session,
  purpose: "fork" | "rewind",
  edit: (text: string) => void,
): PickOptions {
  const own = session
    .state()
    .items.filter((item) => item.kind === "user_message" && !item.id.startsWith("local:"))
  const choices = own
    .map((item) => ({
      id: item.id,
      label: item.kind === "user_message" ? safeLine(item.text) : "",
    }))
    .reverse()
  return {
    title: purpose === "fork" ? "Fork before which message?" : "Rewind to before which message?",
    choices,
    empty: "there is no message yet",
    take: async (id) => {
      if (purpose === "fork") await session.fork(id)
      else edit(await session.rewind(id))
    },
  }
}
