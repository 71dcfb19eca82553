/** What a chat may be set to: names, shelves, the working directory. Wrong values are `invalid` with a path. */
import { KernelError } from "../lib/error.ts"
import { cleanText } from "../lib/text.ts"
import { WorkdirOn } from "../schema/chat.ts"

/** The inbox. */
export const DEFAULT_FOLDER = "default"
/** The shelf of sub-agents' chats; only who names it sees it. */
export const AGENTS_FOLDER = "agents"
/** In a query this stands for every surface, so no surface can have it as its name. */
const ANY_SURFACE = "any"

const MACHINES: readonly string[] = WorkdirOn.anyOf.map((machine) => machine.const)
/** `/home`, `C:\code`, `C:/code` or `\\server\share`; a path such as `C:code` hangs on a current folder. */
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\[^\\])/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

type Text = string | null | undefined

/** Trimmed and storable; null when nothing is left. A name is one line. */
export function cleanName(path: string, value: Text): string | null {
  const name = cleanText(value ?? "").trim()
  if (CONTROL.test(name)) {
    throw new KernelError("invalid", `${path} must be one line without control characters`, {
      path,
    })
  }
  return name === "" ? null : name
}

/** The shelf to store; null or empty is the inbox. */
export function checkFolder(value: Text): string {
  const folder = cleanName("folder", value) ?? DEFAULT_FOLDER
  if (!folder.endsWith("*")) return folder
  throw new KernelError(
    "invalid",
    `folder must not end in *, for that asks for all shelves that begin with the rest: ${folder}`,
    { path: "folder" },
  )
}

export function checkSurface(value: Text): string | null {
  const surface = cleanName("surface", value)
  if (surface !== ANY_SURFACE) return surface
  throw new KernelError("invalid", "surface must not be any, which stands for every surface", {
    path: "surface",
  })
}

export interface Workdir {
  workdir: string | null
  workdir_on: WorkdirOn
}

/** One check for the route and the tool: null or an empty path clears, the machine is the client unless given. */
export function checkWorkdir(value: { workdir?: Text; workdir_on?: Text }): Workdir {
  const machine = value.workdir_on ?? "client"
  if (!isMachine(machine)) {
    throw new KernelError("invalid", `workdir_on must be client or server, not ${machine}`, {
      path: "workdir_on",
    })
  }
  const workdir = cleanName("workdir", value.workdir)
  if (workdir !== null && !ABSOLUTE.test(workdir)) {
    throw new KernelError(
      "invalid",
      `workdir must be an absolute path such as /home/me/code or C:\\code, not ${workdir}`,
      { path: "workdir" },
    )
  }
  return { workdir, workdir_on: machine }
}

const isMachine = (name: string): name is WorkdirOn => MACHINES.includes(name)
