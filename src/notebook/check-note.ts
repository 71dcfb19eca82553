/** What a note may be. Throws KernelError("invalid") with the field, in words that its writer can act on. */
import { KernelError } from "../lib/error.ts"
import { cleanText } from "../lib/text.ts"
import { NOTE_LIMITS, NOTE_NAME } from "../schema/note.ts"
import { type NotesSettings, pinBudget } from "./display.ts"

const invalid = (path: string, message: string): KernelError =>
  new KernelError("invalid", message, { path })

export function checkName(name: string): string {
  if (NOTE_NAME.test(name)) return name
  const tooLong = name.length > NOTE_LIMITS.name ? `; this has ${name.length}` : ""
  throw invalid(
    "name",
    `a note's name is 1 to ${NOTE_LIMITS.name} characters of a-z, 0-9, _ and -${tooLong}`,
  )
}

export function checkDescription(value: string): string {
  const description = cleanText(value).trim()
  if (description === "")
    throw invalid("description", "description must say what the note is about")
  if (/[\p{Cc}\u2028\u2029]/u.test(description)) {
    throw invalid("description", "description is one line")
  }
  if (description.length <= NOTE_LIMITS.description) return description
  throw invalid(
    "description",
    `description has ${description.length} characters, ${NOTE_LIMITS.description} are the most: say it shorter, details belong in the body`,
  )
}

export function checkBody(value: string, { max_note_chars: most }: NotesSettings): string {
  const body = cleanText(value).trim()
  if (body === "") throw invalid("body", "body must hold the note")
  if (body.length <= most) return body
  throw invalid(
    "body",
    `body has ${body.length} characters, ${most} are the most: split it into two notes`,
  )
}

/** Whether one more note may be pinned beside those that are. */
export function checkPin(
  note: { name: string; body: string },
  pinned: readonly { name: string; body: string }[],
  settings: NotesSettings,
): void {
  const budget = pinBudget(settings)
  if (note.body.length > budget) {
    throw invalid(
      "pinned",
      `${note.name} alone has ${note.body.length} characters and pinned notes may have ${budget}: cut this note to pin it`,
    )
  }
  const held = pinned.map(({ name, body }) => `${name} ${body.length}`).join(", ")
  if (pinned.length >= settings.pinned_max) {
    throw invalid(
      "pinned",
      `at most ${settings.pinned_max} notes may be pinned; pinned are, with their characters: ${held || "none"}`,
    )
  }
  const sum = pinned.reduce((total, { body }) => total + body.length, note.body.length)
  if (sum <= budget) return
  throw invalid(
    "pinned",
    `pinned notes may have ${budget} characters together; ${note.name} has ${note.body.length}, and the rest is held by ${held}: cut or unpin one`,
  )
}
