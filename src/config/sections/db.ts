/** Section `db`: the one file that holds everything. */
import { Type } from "@sinclair/typebox"
import { textOf } from "../field.ts"

export const DbSection = Type.Object(
  {
    path: textOf("path", "The SQLite file; it is created when it is missing.", {
      example: "eva.db",
    }),
  },
  { description: "The one SQLite file that holds all state.", shown: true },
)
