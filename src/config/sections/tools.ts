/** Section `tools`: what the agent can do and when it is offered. */
import { Type } from "@sinclair/typebox"
import { duration, list, text, textOf } from "../field.ts"

/**
 * What is needed now and then: its schemas would be paid with every request. What a build does not have matches
 * nothing.
 */
const ON_DEMAND = [
  ...["attention", "code", "cron", "module", "rules", "skill", "toolset"],
  ...["chat_clear", "chat_compact", "chat_compact_profile", "chat_note_compact"],
  ...["chat_note_forget", "chat_rebuild", "chat_summary_get", "chat_summary_set"],
  ...["agent_spawn", "booru_search", "fandom", "find_hex", "lift_turn_limit", "memory_consolidate"],
  ...["memory_forget", "memory_list", "person_list", "person_merge", "person_rename"],
  ...["psychonautwiki", "read_hex", "shell_write", "think_harder", "usage_stats", "write_diff"],
  ...["workdir", "write_hex"],
]

export const ToolsSection = Type.Object(
  {
    dir: textOf("path", "Directory of tools described by *.toml files.", {
      default: "tools.d",
      beside: "config",
    }),
    on_demand: list(
      "Names and groups of tools that stay out of the list until a set or tool_load brings them.",
      text("A tool or a group."),
      { default: ON_DEMAND },
    ),
    ask_ttl: duration("How long a question with buttons waits for its answer.", { default: "10m" }),
  },
  { description: "What the agent can do and when it is offered." },
)
