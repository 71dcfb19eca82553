/** Section `chats`: life and place of conversations. */
import { Type } from "@sinclair/typebox"
import { duration, list, text, whole } from "../field.ts"

export const ChatsSection = Type.Object(
  {
    ephemeral_ttl: duration("Silence after which a temporary chat is removed.", { default: "24h" }),
    max_agents: whole("Sub-agents that one chat may keep alive at once.", { default: 4 }),
    problem_folder: text("Folder of the chats that the kernel opens about problems.", {
      default: "problems",
    }),
    quiet_folders: list(
      "Folders that raise no notice; a trailing * matches a prefix, otherwise the name is exact.",
      text("A folder."),
      { default: ["youtube", "cron", "code"] },
    ),
  },
  { description: "Life and place of conversations." },
)
