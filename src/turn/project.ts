/** The project of a turn's working directory: read once at its entry, on whichever machine that is. */
import { projectText } from "../context/fragments/project.ts"
import { readProjectDocs } from "../files/project-docs.ts"
import { clientProject } from "../files/project-readers.ts"
import { errorText } from "../lib/error.ts"
import { clientOp } from "./client-ops.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

/** A client that does not answer costs the turn this much and no more. */
const OP_TIMEOUT_MS = 10_000

/** The part `[project]`; empty without one. What cannot be read costs itself, not the turn. */
export async function projectFor(parts: TurnParts, turn: RunningTurn): Promise<string> {
  const { identity, projectDocs } = turn.spec
  const { workdir, workdir_on } = turn.chat
  const { max_bytes: maxBytes, ...rest } = parts.settings.context.project
  const { memory_max_bytes: memoryMaxBytes, root_markers: rootMarkers } = rest
  // Where others read along a project is nobody's business, as files are.
  if (workdir === null || !identity.master || identity.public) return ""
  const reaches = workdir_on === "server" || (identity.clientOps && projectDocs)
  if (!reaches) return ""
  const reader =
    workdir_on === "server"
      ? parts.projectReader(turn.signal)
      : clientProject((op) => clientOp(parts, turn, { op, timeoutMs: OP_TIMEOUT_MS }))
  try {
    const docs = await readProjectDocs(reader, workdir, { rootMarkers, maxBytes, memoryMaxBytes })
    // Secrets of these files reach no model, as those of any file that a tool reads.
    return parts.redact(projectText(docs, { maxBytes, memoryMaxBytes }))
  } catch (error) {
    turn.log.warn("the project's files are not read in this turn", { error: errorText(error) })
    return ""
  }
}
