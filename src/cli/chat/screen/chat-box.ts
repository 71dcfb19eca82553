/** The list of chats: search by title, step through the folders, open, delete, restore. */
import type { Chat } from "../../../schema/chat.ts"
import type { ChatFilter, Session } from "../session.ts"
import type { Attempt, Boxes } from "./boxes.ts"
import type { CommandDesk } from "./commands.ts"
import { type Choice, ListBox } from "./list-box.ts"
import { safeLine } from "./safe-text.ts"
import type { Theme } from "./theme.ts"

interface ChatBoxParts {
  session: Session
  theme: Theme
  boxes: Boxes
  attempt: Attempt
  confirm: CommandDesk["confirm"]
  close(): void
}

const DAY = /^\d{4}-\d{2}-\d{2}/

/** @param bin whether it opens on deleted chats, where Enter restores. */
export function createChatBox(parts: ChatBoxParts, bin: boolean): ListBox {
  const { session, theme, attempt, close } = parts
  let found: readonly Chat[] | undefined
  let searched = ""
  const isBin = () => session.state().filter.deleted === true
  const shown = (): readonly Chat[] => found ?? session.state().chats

  const search = async (text: string) => {
    searched = text
    const chats = text === "" || isBin() ? undefined : await session.search(text)
    // An answer that comes after further keys belongs to a question nobody asks any more.
    if (searched === text) found = chats
  }
  // The station that was asked for: a second Tab may come before the first one's list.
  let station = session.state().filter
  const goTo = (filter: ChatFilter) => {
    station = filter
    found = undefined
    attempt(() => session.filter(filter))
  }
  const step = (by: number) => goTo(nextFilter(session, station, by))
  // It opens on all chats, or on the bin, wherever it was left.
  if (bin !== isBin() || station.folder !== undefined) goTo(bin ? { deleted: true } : {})

  const initial = session.state().chat?.id
  return new ListBox({
    theme,
    rows: parts.boxes.listRows,
    title: () => (isBin() ? "Bin" : "Chats"),
    subtitle: () => (found ? "found by title" : folderWords(session)),
    choices: () => choicesOf(shown(), session, isBin() ? searched : ""),
    ...(initial !== undefined && { initial }),
    keys: "Enter open · Tab folder · ^N new · ^D delete · Esc leave",
    empty: () => (isBin() ? "the bin is empty" : "no chats here"),
    onClose: close,
    onSearch: (text) => attempt(() => search(text)),
    onChoose({ id }) {
      const restores = isBin()
      close()
      attempt(async () => {
        if (restores) {
          await session.restore(id)
          await session.filter({})
        }
        await session.open(id)
      })
    },
    actions: [
      { key: "tab", run: () => step(1) },
      { key: "shift+tab", run: () => step(-1) },
      {
        key: "ctrl+n",
        run: () => {
          close()
          attempt(() => session.newChat())
        },
      },
      {
        key: "ctrl+d",
        run: (choice) => {
          if (choice && !isBin())
            parts.confirm(`Put "${choice.label}" into the bin?`, async () => {
              await session.remove(choice.id)
              found = found?.filter(({ id }) => id !== choice.id)
            })
        },
      },
    ],
  })
}

/** The stations of Tab: the common list, every folder, the bin. */
function nextFilter(session: Session, from: ChatFilter, by: number): ChatFilter {
  const { folders } = session.state()
  const stations: ChatFilter[] = [
    {},
    ...folders.map(({ folder }) => ({ folder })),
    { deleted: true },
  ]
  const at = stations.findIndex((one) => one.folder === from.folder && one.deleted === from.deleted)
  return stations[(at + by + stations.length) % stations.length] ?? {}
}

function folderWords(session: Session): string {
  const { filter } = session.state()
  if (filter.deleted) return "deleted chats: Enter restores"
  return filter.folder === undefined ? "all folders" : `folder ${safeLine(filter.folder)}`
}

function choicesOf(chats: readonly Chat[], session: Session, title: string): Choice[] {
  const openId = session.state().chat?.id
  return chats
    .filter((chat) => chat.title.toLowerCase().includes(title.toLowerCase()))
    .map((chat) => {
      const marks = [
        chat.id === openId ? "open" : "",
        chat.running ? "answering" : "",
        chat.needs_attention ? "asks for you" : "",
        chat.folder === "default" ? "" : safeLine(chat.folder),
        DAY.exec(chat.updated_at)?.[0] ?? "",
      ]
      return {
        id: chat.id,
        label: safeLine(chat.title) || "untitled",
        hint: marks.filter(Boolean).join(" · "),
      }
    })
}
