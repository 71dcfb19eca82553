/** Whether a process runs; one that is dead and waits to be collected does not. */
export async function processLives(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = Bun.file(`/proc/${pid}/stat`)
  const text = await stat.text().catch(() => "")
  return !/\) [ZX] /.test(text)
}
