/** Where the user is: an open chat with its view, or a draft that becomes a chat when something is said. */
import type { Chat, NewChat } from "../../schema/chat.ts"
import type { ChatView } from "./chat-view.ts"
import type { Place } from "./outbox.ts"

export interface Room extends Place {
  chat: Chat | undefined
  view: ChatView | undefined
  /** Of a draft: how its chat will be set up. */
  settings: NewChat
}

export const chatRoom = (chat: Chat, view: ChatView): Room => ({
  ...{ chatId: chat.id, chat, view, settings: {} },
  resolve: async () => chat.id,
})

/** `make` is called when the first message goes out, and again after it failed; it fills the room. */
export function draftRoom(settings: NewChat, make: (room: Room) => Promise<string>): Room {
  let making: Promise<string> | undefined
  const room: Room = {
    ...{ chatId: undefined, chat: undefined, view: undefined, settings },
    resolve: () => {
      making ??= make(room).catch((error) => {
        making = undefined
        throw error
      })
      return making
    },
  }
  return room
}
