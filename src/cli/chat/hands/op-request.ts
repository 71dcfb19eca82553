/** A client operation as its user meets it: what it would do, shown, and what a decision about it covers. */
import { readFile } from "node:fs/promises"
import { PROJECT_DOC_NAMES } from "../../../files/project-docs.ts"
import type { ClientOp } from "../../../schema/client-op.ts"
import type { Grant } from "./permissions.ts"
import { isProject, isWithin, pathOf, realPathOf } from "./place.ts"

/** A line of what would change. */
export interface DetailLine {
  kind: "same" | "added" | "removed" | "plain"
  text: string
}

export interface OpRequest {
  /** One line: `write src/a.ts`. */
  title: string
  details: readonly DetailLine[]
  /** The folder that `always` belongs to. */
  project: string
  /** Undefined: needs no question here. */
  grant: Grant | undefined
}

/** Larger texts are not compared, but shown by their size. */
const DIFF_BYTES_MAX = 2_000_000
const CONTEXT_LINES = 2
/** Of a file that is written as a whole so many lines are shown. */
const DETAIL_LINES_MAX = 2000

/** Looks at the machine, and changes nothing. */
export async function describeOp(op: ClientOp, cwd: string): Promise<OpRequest> {
  const project = await realPathOf(cwd)
  if (op.action === "shell") return shellRequest(op.command, project)
  const path = await realPathOf(pathOf(op.path, cwd))
  const isInside = isProject(project) && isWithin(path, project)
  const shown = isWithin(path, project) ? path.slice(project.length + 1) || "." : path
  switch (op.action) {
    case "read":
    case "read_bytes":
    case "find_bytes":
      return {
        title: `read ${shown}`,
        details: [],
        project,
        grant: readGrant(path, isInside || isProjectDoc(path, project)),
      }
    case "list_up":
      return {
        title: `look for project files from ${shown}`,
        details: [],
        project,
        grant: undefined,
      }
    case "write":
      return {
        title: `write ${shown}`,
        details: await changesOf(path, op.content),
        project,
        grant: isInside ? "write" : `write: ${path}`,
      }
    case "write_bytes":
      return {
        title: `write ${byteCount(op.data)} bytes into ${shown} at ${op.offset}`,
        details: [],
        project,
        grant: isInside ? "write" : `write: ${path}`,
      }
  }
}

/** What a project says to agents may lie in the folders above; the kernel reads it with each message. */
const isProjectDoc = (path: string, project: string): boolean =>
  PROJECT_DOC_NAMES.some(
    (name) =>
      path.endsWith(`/${name}`) && isWithin(project, path.slice(0, -name.length - 1) || "/"),
  )

const readGrant = (path: string, isInside: boolean): Grant | undefined =>
  isInside ? undefined : `read: ${path}`

function shellRequest(command: string | string[], project: string): OpRequest {
  const commands = [command].flat()
  return {
    title: commands.length === 1 ? "run a command" : `run ${commands.length} commands`,
    details: commands.flatMap((one) =>
      one.split("\n").map((line, index): DetailLine => {
        return { kind: "plain", text: `${index === 0 ? "$" : " "} ${line}` }
      }),
    ),
    project,
    grant: `shell: ${commands.join(" ; ")}`,
  }
}

const byteCount = (base64: string): number => Buffer.from(base64, "base64").length

/** What writing this text would change; a file that is not there yet is all new. */
async function changesOf(path: string, content: string): Promise<DetailLine[]> {
  const before = await readFile(path).catch(() => undefined)
  if (before === undefined) return linesOf(content, "added")
  if (before.length + content.length > DIFF_BYTES_MAX) {
    return [{ kind: "plain", text: `${before.length} bytes become ${content.length} characters` }]
  }
  const { structuredPatch } = await import("diff")
  const { hunks } = structuredPatch("", "", before.toString(), content, undefined, undefined, {
    context: CONTEXT_LINES,
  })
  if (hunks.length === 0) return [{ kind: "plain", text: "nothing changes" }]
  return hunks.flatMap(({ oldStart, lines }, index) => [
    ...(index === 0 ? [] : [{ kind: "plain", text: `… line ${oldStart}` } as const]),
    ...lines.map(asDetail),
  ])
}

const KINDS: Record<string, DetailLine["kind"]> = { "+": "added", "-": "removed", " ": "same" }

const asDetail = (line: string): DetailLine => ({
  kind: KINDS[line.charAt(0)] ?? "plain",
  text: line.slice(1),
})

function linesOf(text: string, kind: DetailLine["kind"]): DetailLine[] {
  const lines = text.replace(/\n$/, "").split("\n")
  const shown = lines.slice(0, DETAIL_LINES_MAX).map((line): DetailLine => ({ kind, text: line }))
  const more = lines.length - shown.length
  return more > 0 ? [...shown, { kind: "plain", text: `… ${more} more lines` }] : shown
}
