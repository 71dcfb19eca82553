/**
 * How a room that keeps facts about chats (summary, notebook, plan, pictures) follows what happens to them.
 * Each function runs inside the transaction of the deed, so that both happen or neither.
 */
export interface ChatFollower {
  /** A branch was made; `newIdOf` gives the copy of a message, undefined when it was not copied. */
  forked?(fork: { from: string; to: string; newIdOf: (id: string) => string | undefined }): void
  /** Every message from this id on is gone. */
  cut?(cut: { chatId: string; from: string }): void
  /** All messages are gone, the chat stays. */
  cleared?(chatId: string): void
  /** The chat went to the bin; it may come back. */
  removed?(chatId: string): void
  /** The chat is gone for good; rows that refer to it by a cascading foreign key go by themselves. */
  erased?(chatId: string): void
}
