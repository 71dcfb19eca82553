/** Section `tools`: what the agent can do and when it is offered. */
import { Type } from "@sinclair/typebox"
import { duration, list, text, textOf } from "../field.ts"

export const ToolsSection = Type.Object(
  {
    dir: textOf("path", "Directory of tools described by *.toml files.", {
      default: "tools.d",
      beside: "config",
    }),
    on_demand: list(
      "Names and groups of tools that stay out of the list until a set or tool_load brings them.",
      text("A tool or a group."),
      { default: [], example: ["images"] },
    ),
    ask_ttl: duration("How long a question with buttons waits for its answer.", { default: "10m" }),
  },
  { description: "What the agent can do and when it is offered." },
)
