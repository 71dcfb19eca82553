/** Section `log`: what is told to whoever runs the kernel. */
import { Type } from "@sinclair/typebox"
import { choice } from "../field.ts"

export const LogSection = Type.Object(
  {
    level: choice(
      "The least important record that is written.",
      ["trace", "debug", "info", "warn", "error", "silent"],
      { default: "info" },
    ),
    format: choice(
      "Lines for people, JSON, or auto: people on a terminal and JSON elsewhere.",
      ["auto", "json", "human"],
      { default: "auto" },
    ),
  },
  { description: "The log, one line a record on standard error." },
)
