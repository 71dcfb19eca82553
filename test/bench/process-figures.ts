/** What Linux knows of a process: memory, processor time and how often it woke up. */
import { existsSync, readdirSync, readFileSync } from "node:fs"

export interface ProcessFigures {
  residentMiB: number
  /** Without the pages of the executable and other files, which processes share. */
  privateMiB: number
  peakMiB: number
  /** Of all threads. */
  cpuMs: number
  /** Times that a thread went to sleep of itself: each is a wake-up before. */
  wakeups: number
  /** The same of the thread that runs the program. */
  mainWakeups: number
}

/** Why nothing can be read here; undefined where it can. */
export const whyNoFigures = (): string | undefined =>
  existsSync("/proc/self/schedstat") ? undefined : "needs /proc with schedstat (Linux)"

export function processFigures(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`)
  return {
    residentMiB: field(status, "VmRSS") / 1024,
    privateMiB: field(status, "RssAnon") / 1024,
    peakMiB: field(status, "VmHWM") / 1024,
    cpuMs:
      sum(threads, (path) => Number(readFileSync(`${path}/schedstat`, "utf8").split(" ")[0])) / 1e6,
    wakeups: sum(threads, sleepsOf),
    mainWakeups: sleepsOf(`/proc/${pid}/task/${pid}`),
  }
}

const sleepsOf = (path: string): number =>
  field(readFileSync(`${path}/status`, "utf8"), "voluntary_ctxt_switches")

const field = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0)

/** A thread may end while it is looked at. */
const sum = (paths: readonly string[], read: (path: string) => number): number =>
  paths.reduce((total, path) => {
    try {
      return total + read(path)
    } catch {
      return total
    }
  }, 0)
