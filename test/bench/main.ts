/**
 * `bun run bench [section] [name…] [--quick]`: measures the built kernel and prints a table for each section.
 * What the figures mean stands in docs/benchmarks.md. The exit code tells whether all could be measured,
 * not whether goals were met: a busy machine must not fail a build.
 */
import { cpus, loadavg } from "node:os"
import { parseArgs } from "node:util"
import type { Context, Section } from "./bench.ts"
import { context as contextSection } from "./context.ts"
import { hands } from "./hands.ts"
import { life } from "./life.ts"
import { memory } from "./memory.ts"
import { type Row, table } from "./report.ts"
import { skeleton } from "./skeleton.ts"
import { terminal } from "./terminal.ts"

const SECTIONS: Record<string, Section> = {
  skeleton,
  terminal,
  hands,
  memory,
  life,
  context: contextSection,
}

const USAGE = `Usage: bun run bench [section] [name ...] [--quick]

${Object.entries(SECTIONS)
  .map(([name, { benches }]) => `  ${name}: ${benches.map((bench) => bench.name).join(", ")}`)
  .join("\n")}

  --quick  fewer samples, and nothing that takes minutes
`

const print = (text: string): void => void process.stdout.write(text)

/** All rows that could be measured, and how many benchmarks broke. */
async function runSection(
  section: Section,
  names: readonly string[],
  context: Context,
): Promise<{ rows: Row[]; broken: number }> {
  const rows: Row[] = []
  let broken = 0
  for (const { name, run } of section.benches) {
    if (names.length > 0 && !names.includes(name)) continue
    context.say(name)
    try {
      rows.push(...(await run(context)))
    } catch (error) {
      broken++
      const note = `broke: ${error instanceof Error ? error.message : String(error)}`
      rows.push({ figure: name, measured: undefined, unit: "", note })
    }
  }
  return { rows, broken }
}

/** What judges the figures: on a busy machine they tell of the neighbours, too. */
function machine(): string {
  const load = loadavg()[0]!
  const busy = load > cpus().length / 2 ? ", BUSY: times are too long" : ""
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${load.toFixed(1)} at the start${busy}`
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: "boolean" }, help: { type: "boolean" } },
    allowPositionals: true,
  })
  const [wanted, ...names] = positionals
  const chosen = wanted === undefined ? Object.keys(SECTIONS) : [wanted]
  const known = Object.values(SECTIONS).flatMap(({ benches }) => benches.map(({ name }) => name))
  if (
    values.help ||
    !chosen.every((name) => name in SECTIONS) ||
    !names.every((name) => known.includes(name))
  ) {
    print(USAGE)
    return values.help ? 0 : 2
  }
  const context: Context = {
    quick: values.quick ?? false,
    say: (text) => void process.stderr.write(`… ${text}\n`),
  }
  let broken = 0
  for (const name of chosen) {
    const section = SECTIONS[name]!
    print(`\n${section.title} (${machine()})\n\n`)
    const result = await runSection(section, names, context)
    print(table(result.rows))
    broken += result.broken
  }
  return broken === 0 ? 0 : 1
}

process.exit(await main())
