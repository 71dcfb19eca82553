/** What Linux knows of a process: memory, processor time and how often it woke up. */
import { existsSync, readFileSync } from "node:fs"

export interface ProcessFigures {
  residentMiB: number
  /** Without the pages of the executable and other files, which processes share. */
  privateMiB: number
  peakMiB: number
  /** Of all threads, those that have ended included. */
  cpuMs: number
  /** How often the thread that runs the program went to sleep of itself: each is a wake-up before. */
  wakeups: number
}

/** What the kernel counts processor time in, for programs: 1/100 s on every Linux that Bun runs on. */
const TICK_MS = 10

/** Why nothing can be read here; undefined where it can. */
export const whyNoFigures = (): string | undefined =>
  existsSync("/proc/self/stat") ? undefined : "needs /proc (Linux)"

export function processFigures(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return {
    residentMiB: field(status, "VmRSS") / 1024,
    privateMiB: field(status, "RssAnon") / 1024,
    peakMiB: field(status, "VmHWM") / 1024,
    cpuMs: ticksOf(pid) * TICK_MS,
    wakeups: field(status, "voluntary_ctxt_switches"),
  }
}

const field = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0)

/** User and system time: the 14th and 15th field, counted behind the name, which may hold spaces. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return Number(fields[11]) + Number(fields[12])
}
