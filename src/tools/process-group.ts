/**
 * Ends a process group: the program and all that it started. A process that is dead and only waits to be
 * collected does not count as living: in a container without an init nobody collects it for a long time.
 */
import { readdir, readFile } from "node:fs/promises"
import { sleep } from "../lib/async.ts"

export const GROUP_LIMITS = {
  /** Between the polite and the final signal. */
  graceMs: 2_000,
  /** How often a group that was told to end is looked at. */
  pollMs: 20,
} as const

/** Asks every process of the group to end, then makes it. Resolves when nothing of it runs. */
export async function endGroup(pid: number): Promise<void> {
  if (!signalGroup(pid, "SIGTERM")) return
  const polls = Math.ceil(GROUP_LIMITS.graceMs / GROUP_LIMITS.pollMs)
  for (let poll = 0; poll < polls; poll++) {
    if (!(await groupLives(pid))) return
    await sleep(GROUP_LIMITS.pollMs)
  }
  signalGroup(pid, "SIGKILL")
}

/** False when the group has no process left, dead ones included. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

async function groupLives(pid: number): Promise<boolean> {
  if (!signalGroup(pid, 0)) return false
  const states = await groupStates(pid)
  return states === undefined || states.some((state) => state !== "Z" && state !== "X")
}

/** The state letters of the group's processes (proc_pid_stat(5)); undefined without a Linux /proc. */
async function groupStates(group: number): Promise<string[] | undefined> {
  const entries = await readdir("/proc").catch(() => [])
  const pids = entries.filter((name) => /^\d+$/.test(name))
  if (pids.length === 0) return undefined
  const stats = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")),
  )
  const states: string[] = []
  for (const stat of stats) {
    // The name before the parenthesis may hold anything, spaces and parentheses included.
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    if (state && Number(pgrp) === group) states.push(state)
  }
  return states
}
