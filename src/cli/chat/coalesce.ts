/** Work that many events ask for and that is wanted once. */

/**
 * Calls `work` once for all requests of `pauseMs`, never twice at a time; one more run follows when a request
 * came while it ran. What it rejects with is swallowed: the next request tries again.
 */
export function coalesced(work: () => Promise<unknown>, pauseMs: number): () => void {
  let state: "idle" | "waiting" | "running" | "again" = "idle"
  const run = async () => {
    state = "running"
    await work().catch(() => undefined)
    const again = (state as string) === "again"
    state = "idle"
    if (again) request()
  }
  const request = () => {
    if (state === "running") state = "again"
    if (state !== "idle") return
    state = "waiting"
    setTimeout(() => void run(), pauseMs)
  }
  return request
}
