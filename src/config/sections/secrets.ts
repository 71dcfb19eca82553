/** Section `secrets`: what is wiped out of tool output before it is stored or sent. */
import { Type } from "@sinclair/typebox"
import { flag, list, text, textOf } from "../field.ts"

const Rule = Type.Object(
  {
    name: text("The kind of secret, shown as [redacted: NAME].", { example: "ticket" }),
    pattern: textOf("pattern", "Regular expression of the secret.", {
      example: "TICKET-[0-9]{8}",
    }),
  },
  { description: "A further rule." },
)

export const SecretsSection = Type.Object(
  {
    builtin: flag("The built-in rules (bearer tokens, API keys, private keys, ...) apply.", {
      default: true,
    }),
    rules: list("Further rules, applied in order after the built-in ones.", Rule),
  },
  { description: "What is wiped out of tool output before it is stored or sent." },
)
