/**
 * Everything that must hold before a push, as CI runs it: `bun run check`.
 *
 * Each step runs in a process group of its own that is ended with it, so nothing outlives the check.
 * All steps run even when one fails. The last line is what the test runner counted, as
 * `N passed, N failed`; the exit code is 0 only when every step succeeded.
 */
import { join } from "node:path"

const ROOT = join(import.meta.dir, "..")
const BIOME = "node_modules/@biomejs/biome/bin/biome"
const TSC = "node_modules/typescript/bin/tsc"
const STEP_MAX_MS = 15 * 60_000

interface Step {
  name: string
  /** Arguments of this very Bun, which need not be on the PATH. */
  args: string[]
  /** Another step without which this one makes no sense. */
  needs?: string
}

interface Outcome {
  ok: boolean
  output: string
}

const STEPS: Step[] = [
  { name: "lint", args: [BIOME, "check", "--error-on-warnings", "."] },
  { name: "types", args: [TSC, "--noEmit"] },
  { name: "docs", args: ["scripts/docs.ts", "--check"] },
  // A loaded machine is slow, and a test that hangs still ends.
  { name: "test", args: ["test", "--timeout=60000"] },
  { name: "build", args: ["scripts/build.ts"] },
  { name: "smoke", args: ["scripts/smoke.ts"], needs: "build" },
]

async function runStep(step: Step): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, ...step.args], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  })
  const endGroup = (): void => {
    try {
      process.kill(-child.pid, "SIGKILL")
    } catch {
      // The group is empty: every process of it has ended by itself.
    }
  }
  const interrupt = (): void => {
    endGroup()
    process.exit(130)
  }
  const timer = setTimeout(endGroup, STEP_MAX_MS)
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt)
  const texts = Promise.all([child.stdout.text(), child.stderr.text()])
  const code = await child.exited
  // A forgotten grandchild would hold the pipes open, and the texts would never end.
  endGroup()
  clearTimeout(timer)
  process.off("SIGINT", interrupt).off("SIGTERM", interrupt)
  return { ok: code === 0, output: (await texts).join("") }
}

/** What a reader of a failed step needs: everything but the tests that passed. */
const withoutPasses = (output: string): string =>
  output
    .split("\n")
    .filter((line) => !line.startsWith("(pass) "))
    .join("\n")

/** The runner's own summary, the last ` 12 pass` and ` 1 fail` on lines of their own. */
function counted(output: string, word: "pass" | "fail"): number {
  const lines = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))]
  return Number(lines.at(-1)?.[1] ?? 0)
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const outcomes = new Map<string, Outcome>()
for (const step of STEPS) {
  if (step.needs && !outcomes.get(step.needs)?.ok) {
    outcomes.set(step.name, { ok: false, output: "" })
    print(`FAIL  ${step.name.padEnd(6)} not run: ${step.needs} failed`)
    continue
  }
  const startedMs = performance.now()
  const outcome = await runStep(step)
  outcomes.set(step.name, outcome)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  print(`${outcome.ok ? "ok  " : "FAIL"}  ${step.name.padEnd(6)} ${seconds.padStart(6)} s`)
  if (!outcome.ok) print(withoutPasses(outcome.output).trim())
}

const failed = STEPS.filter(({ name }) => !outcomes.get(name)?.ok).map(({ name }) => name)
print(failed.length > 0 ? `failed steps: ${failed.join(", ")}` : "every step succeeded")
const tests = outcomes.get("test")?.output ?? ""
print(`${counted(tests, "pass")} passed, ${counted(tests, "fail")} failed`)
process.exitCode = failed.length > 0 ? 1 : 0
