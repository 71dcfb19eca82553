/** An encoding as a tool is told it, and as answers tell it. */
import { Type } from "@sinclair/typebox"
import type { TextFormat } from "./text-file.ts"

/** The parameter `encoding` of tools that read text. */
export const EncodingName = Type.Optional(
  Type.String({ description: "Found out when absent; such as windows-1251, shift_jis" }),
)

/** Only what is out of the ordinary. */
export function formatNote(
  { encoding, bom, guessed }: TextFormat,
  { crlf = false }: { crlf?: boolean } = {},
): string {
  const notes = [
    ...(encoding.name === "utf-8" && !bom ? [] : [encoding.name + (bom ? " with BOM" : "")]),
    ...(guessed ? ["guessed"] : []),
    ...(crlf ? ["lines end with CRLF"] : []),
  ]
  return notes.length > 0 ? ` (${notes.join(", ")})` : ""
}
