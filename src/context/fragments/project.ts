/** The part `[project]`: the files of a project within their budgets, each with where it is from. */

import type { ProjectDoc, ProjectDocs } from "../../files/project-docs.ts"
import { cutBytes } from "../../lib/text.ts"
import frame from "./project-frame.txt" with { type: "text" }

export interface ProjectBudget {
  /** Of all AGENTS.md together. */
  maxBytes: number
  memoryMaxBytes: number
}

/** Empty when the project says nothing. The root's files are shown first, as far as the budget goes. */
export function projectText({ docs, memory }: ProjectDocs, budget: ProjectBudget): string {
  const pieces: string[] = []
  const unseen: string[] = []
  let left = budget.maxBytes
  for (const doc of docs) {
    if (left <= 0) {
      unseen.push(doc.path)
      continue
    }
    pieces.push(pieceOf(doc, left))
    left -= Math.min(left, doc.read)
  }
  if (unseen.length > 0) pieces.push(`(not shown for want of room: ${unseen.join(", ")})`)
  if (memory) pieces.push(pieceOf(memory, budget.memoryMaxBytes))
  return pieces.length === 0 ? "" : [frame.trim(), ...pieces].join("\n\n")
}

function pieceOf({ path, text, total }: ProjectDoc, bytes: number): string {
  const shown = cutBytes(text, bytes)
  const gone = total - Buffer.byteLength(shown)
  const isCut = shown.length < text.length || gone > BOM_BYTES
  const note = isCut ? `\n(cut: the last ${gone} of ${total} bytes of ${path} are not shown)` : ""
  return `--- ${path}\n${shown.trim()}${note}`
}

/** A byte order mark is no text and counts for nothing. */
const BOM_BYTES = 3
