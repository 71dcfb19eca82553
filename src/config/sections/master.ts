/** Section `master`: whose agent this is. */
import { Type } from "@sinclair/typebox"
import { list, text, textOf } from "../field.ts"

export const MasterSection = Type.Object(
  {
    aliases: list("Aliases whose person counts as the master.", text("An alias."), {
      default: [],
      example: ["telegram:123456789"],
    }),
    timezone: Type.Optional(
      textOf("zone", "The master's IANA time zone.", {
        example: "Europe/Berlin",
        unset: "the zone of this machine",
      }),
    ),
  },
  { description: "Whose agent this is." },
)
