/** Files of an ssh host, by scripts for its `sh`. Bytes come in base64, as whole files do. */
import type { NewId } from "../lib/id.ts"
import type { ProcessResult } from "../tools/process.ts"
import { absolutePath } from "./absolute-path.ts"
import {
  type FilePiece,
  FileProblem,
  type FileProblemKind,
  type Hands,
  type LineSpan,
  type LinesAt,
  type PieceAt,
} from "./hands.ts"
import { machineFiles } from "./machine-files.ts"
import {
  CHECKED,
  fileChecks,
  pathWord,
  runScript,
  type ScriptPlace,
  scriptFailure,
} from "./machine-script.ts"

export interface MachineHandsOptions extends ScriptPlace {
  /** Relative paths count from it; the home there when undefined. */
  cwd: string | undefined
  newId: NewId
}

/** Base64 with its line ends, and the line before it. */
const OUTPUT_FACTOR = 1.4
const OUTPUT_EXTRA = 10_000

export function machineHands(options: MachineHandsOptions): Hands {
  const { machine, newId, signal, cwd } = options
  return {
    name: machine.name,
    on: "server",
    whole: machineFiles({ machine, newId, signal }),
    parallel: 1,
    resolve: (path) => absolutePath(path, { cwd }),
    read: (path, piece) => read(options, path, piece),
    lines: (path, at) => lines(options, path, at),
    list: async (folder) => {
      const result = await run(options, `ls -A -- ${pathWord(folder)}`, OUTPUT_EXTRA)
      return result.exitCode === 0 ? result.stdout.text().trimEnd().split("\n") : undefined
    },
  }
}

async function read(
  options: MachineHandsOptions,
  path: string,
  { offset, size }: PieceAt,
): Promise<FilePiece> {
  const script = [
    fileChecks(path),
    `{ stat -L -c '%s %i:%y:%z' -- "$f" || stat -L -f '%z %i:%Fm:%Fc' -- "$f"; } 2>/dev/null || wc -c < "$f"`,
    `tail -c +${offset + 1} < "$f" | head -c ${size} | base64`,
  ].join("\n")
  const result = await run(options, script, size * OUTPUT_FACTOR + OUTPUT_EXTRA)
  const [facts = "", ...encoded] = output(options, result).split("\n")
  const [told = "0", stamp = ""] = facts.trim().split(/ (.*)/s)
  const bytes = Buffer.from(encoded.join(""), "base64")
  const total = Math.max(Number(told), bytes.length > 0 ? offset + bytes.length : 0)
  return { total, bytes, ...(stamp !== "" && { stamp: `${told} ${stamp}` }) }
}

/** Counted there: of the file only numbers travel. */
async function lines(
  options: MachineHandsOptions,
  path: string,
  { from, count }: LinesAt,
): Promise<LineSpan> {
  const script = [
    fileChecks(path),
    'wc -l < "$f"',
    'tail -c 1 < "$f" | wc -l',
    `head -n ${from - 1} < "$f" | wc -c`,
    `head -n ${from - 1 + count} < "$f" | wc -c`,
    'wc -c < "$f"',
  ].join("\n")
  const result = await run(options, script, OUTPUT_EXTRA)
  const [ends = 0, closed = 0, start = 0, end = 0, size = 0] = output(options, result)
    .trim()
    .split("\n")
    .map(Number)
  return { start, end, total: ends + (size > 0 && closed === 0 ? 1 : 0) }
}

const run = (
  options: MachineHandsOptions,
  command: string,
  keptBytes: number,
): Promise<ProcessResult> => runScript(options, { command, keptBytes })

function output(options: MachineHandsOptions, result: ProcessResult): string {
  if (result.ended === "exit" && result.exitCode === 0) return result.stdout.text()
  const kinds = Object.keys(CHECKED) as FileProblemKind[]
  const kind = kinds.find((name) => CHECKED[name] === result.exitCode)
  throw kind ? new FileProblem(kind) : scriptFailure(options, result)
}
