/** Tools about chats: erasing what was said, calling for the master's eyes, and the bin. */
import { type Static, Type } from "@sinclair/typebox"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import type { Chats } from "./chats.ts"

const HERE = "absent: this one"
const ChatId = Type.Optional(Type.String({ description: `A chat; ${HERE}` }))

const ClearInput = Type.Object({}, { additionalProperties: false })
const DeleteInput = Type.Object({ chat_id: ChatId }, { additionalProperties: false })
const AttentionInput = Type.Object(
  {
    chat_id: ChatId,
    title: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "Opens a chat for the problem" }),
    ),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
    off: Type.Optional(Type.Boolean({ description: "Takes the flag away" })),
  },
  { additionalProperties: false },
)
type AttentionInput = Static<typeof AttentionInput>

export interface ChatToolOptions {
  chats: Pick<Chats, "create" | "get" | "patch" | "bin" | "remove" | "clearBehind">
  /** How many notes the notebook of a chat has. */
  notesIn(chatId: string): number
  /** Where chats about problems are opened. */
  problemFolder: string
}

export const chatTools = (options: ChatToolOptions): Tool[] => [
  clearTool(options),
  attentionTool(options),
  deleteTool(options),
]

const clearTool = ({ chats, notesIn }: ChatToolOptions): Tool => ({
  name: "chat_clear",
  group: "chat",
  icon: "🧹",
  description:
    "Erases for good what was said in this chat before this turn. From the next turn on the context is empty.",
  input: ClearInput,
  gates: ["master_only"],
  traits: {},
  run: async ({ chatId }) => {
    const erased = chats.clearBehind(chatId)
    const notes = notesIn(chatId)
    const kept = notes > 0 ? `, and so ${notes === 1 ? "does" : "do"} ${count(notes, "note")}` : ""
    return { output: `erased ${count(erased, "message")}; what this turn says stays${kept}` }
  },
})

const attentionTool = ({ chats, problemFolder }: ChatToolOptions): Tool => ({
  name: "chat_attention",
  group: "attention",
  icon: "🙋",
  brief: "{reason}",
  description:
    "Flags a chat so that the master looks at it. Repair what you can yourself first; flag what needs him, with the reason.",
  input: AttentionInput,
  gates: ["master_only"],
  traits: {},
  run: async (context, input) => {
    const { chat_id, title, reason, off } = input as AttentionInput
    if (title !== undefined && (off || chat_id !== undefined)) {
      throw new ToolFailure("title opens a new chat: give it without chat_id and off")
    }
    const chatId =
      title === undefined
        ? (chat_id ?? context.chatId)
        : chats.create({ title, folder: problemFolder }).id
    const { needs_attention } = chats.patch(chatId, {
      needs_attention: !off,
      ...(!off && { attention_reason: reason ?? null }),
    })
    return { output: `${needs_attention ? "flagged" : "not flagged any more"}: chat ${chatId}` }
  },
})

const deleteTool = ({ chats }: ChatToolOptions): Tool => ({
  name: "chat_delete",
  group: "attention",
  icon: "🗑",
  description: "Puts a chat into the bin. Nothing is erased; the master can restore it.",
  input: DeleteInput,
  gates: ["master_only"],
  traits: {},
  run: async (context, input) => {
    const { chat_id: chatId = context.chatId } = input as Static<typeof DeleteInput>
    const { title } = chats.get(chatId)
    // This turn still has to say that it is done.
    if (chatId === context.chatId) chats.bin(chatId)
    else await chats.remove(chatId)
    return { output: `in the bin: ${title === "" ? "" : `${title}, `}chat ${chatId}` }
  },
})

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? "" : "s"}`
