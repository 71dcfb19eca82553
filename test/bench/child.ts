/** Processes of a benchmark: each has an owner that ends it, and says where it listens. */

export interface Child extends AsyncDisposable {
  pid: number
  /** The address in its first line that has one. */
  url: string
  /** `epochMs`-like clock of this process: when it was started, and when the address was read. */
  startedMs: number
  listeningMs: number
  exited: Promise<number>
  kill(signal: NodeJS.Signals): void
}

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/
/** A kernel stops within its own drain time; this is for one that hangs. */
const STOP_MAX_MS = 20_000

/** Starts a program and waits for its address. Throws with what it said when it ends before. */
export async function startChild(
  command: readonly string[],
  environment: Record<string, string> = {},
): Promise<Child> {
  const startedMs = performance.now()
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const errors = child.stderr.text()
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let said = ""
  while (!ADDRESS.test(said)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`${command.join(" ")} ended: ${said}${await errors}`)
    said += decoder.decode(value, { stream: true })
  }
  const listeningMs = performance.now()
  void drain(reader)
  return {
    ...{ pid: child.pid, url: ADDRESS.exec(said)![0], startedMs, listeningMs },
    exited: child.exited,
    kill: (signal) => child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM")
      const impatient = setTimeout(() => child.kill("SIGKILL"), STOP_MAX_MS)
      await child.exited
      clearTimeout(impatient)
    },
  }
}

async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

/** Runs a load generator, a program that prints one JSON value, in a process of its own. */
export async function runLoad<T>(program: string, settings: unknown): Promise<T> {
  const child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  const [text, code] = await Promise.all([child.stdout.text(), child.exited])
  if (code !== 0) throw new Error(`${program} ended with code ${code}`)
  return JSON.parse(text) as T
}
