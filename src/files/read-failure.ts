/** Why a file cannot be read, in words that help the next call. */
import { posix } from "node:path"
import { errorText } from "../lib/error.ts"
import { nearest } from "../lib/text.ts"
import { ToolFailure } from "../tools/tool.ts"
import { FileProblem, type Hands } from "./hands.ts"

/** Names of a folder that are told. */
const NAMES_MAX = 40

export async function readFailure(
  hands: Pick<Hands, "name" | "list">,
  path: string,
  error: unknown,
): Promise<ToolFailure> {
  if (!(error instanceof FileProblem)) {
    return error instanceof ToolFailure ? error : new ToolFailure(`${path}: ${errorText(error)}`)
  }
  return new ToolFailure(`${hands.name}:${path}: ${await inWords(hands, path, error)}`)
}

async function inWords(
  hands: Pick<Hands, "name" | "list">,
  path: string,
  { kind, message }: FileProblem,
): Promise<string> {
  if (kind === "folder") return `${message}, which holds ${names(await hands.list(path))}`
  if (kind !== "absent") return message
  const folder = posix.dirname(path)
  const found = await hands.list(folder)
  if (!found) return `${message}, and no folder ${folder}`
  const near = nearest(posix.basename(path), found)
  const hint = near === undefined ? "" : ` Did you mean ${posix.join(folder, near)}?`
  return `${message}; ${folder} holds ${names(found)}.${hint}`
}

function names(found: readonly string[] | undefined): string {
  if (!found || found.length === 0) return "nothing"
  const more = found.length - NAMES_MAX
  return found.slice(0, NAMES_MAX).join(", ") + (more > 0 ? ` and ${more} more` : "")
}
