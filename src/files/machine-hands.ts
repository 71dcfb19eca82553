/** Files of an ssh host, by scripts for its `sh`. Bytes come in base64, as whole files do. */
import type { NewId } from "../lib/id.ts"
import type { Machine } from "../tools/machine.ts"
import type { ProcessResult } from "../tools/process.ts"
import { ToolFailure } from "../tools/tool.ts"
import { absolutePath } from "./absolute-path.ts"
import { findInPieces } from "./find-in-pieces.ts"
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

export interface MachineHandsOptions {
  machine: Machine
  /** Relative paths count from it; the home there when undefined. */
  cwd: string | undefined
  newId: NewId
  signal: AbortSignal
}

const TIMEOUT_MS = 120_000
/** Base64 with its line ends, and the line before it. */
const OUTPUT_FACTOR = 1.4
const OUTPUT_EXTRA = 10_000

/** Exit codes of the scripts, beside those of the programs in them. */
const CODES = { absent: 40, folder: 41, special: 42, denied: 43 } as const

export function machineHands(options: MachineHandsOptions): Hands {
  const { machine, newId, signal, cwd } = options
  const hands: Hands = {
    name: machine.name,
    on: "server",
    searchBytesMax: undefined,
    whole: machineFiles({ machine, newId, signal }),
    resolve: (path) => absolutePath(path, { cwd }),
    read: (path, piece) => read(options, path, piece),
    lines: (path, at) => lines(options, path, at),
    find: (path, wanted) => findInPieces(hands.read, path, { ...wanted, signal }),
    list: async (folder) => {
      const result = await run(options, `ls -A -- ${quoted(folder)}`, OUTPUT_EXTRA)
      return result.exitCode === 0 ? result.stdout.text().trimEnd().split("\n") : undefined
    },
  }
  return hands
}

async function read(
  options: MachineHandsOptions,
  path: string,
  { offset, size }: PieceAt,
): Promise<FilePiece> {
  const script = [
    ...checked(path),
    `{ stat -L -c '%s %i:%y:%z' -- "$f" || stat -L -f '%z %i:%Fm:%Fc' -- "$f"; } 2>/dev/null || wc -c < "$f"`,
    `tail -c +${offset + 1} < "$f" | head -c ${size} | base64`,
  ].join("\n")
  const result = await run(options, script, size * OUTPUT_FACTOR + OUTPUT_EXTRA)
  const [facts = "", ...encoded] = output(options, result).split("\n")
  const [told = "0", stamp = ""] = facts.trim().split(/ (.*)/s)
  const bytes = Buffer.from(encoded.join(""), "base64")
  const total = Math.max(Number(told), offset + bytes.length)
  return { total, bytes, ...(stamp !== "" && { stamp: `${told} ${stamp}` }) }
}

/** Counted there: of the file only numbers travel. */
async function lines(
  options: MachineHandsOptions,
  path: string,
  { from, count }: LinesAt,
): Promise<LineSpan> {
  const script = [
    ...checked(path),
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

const checked = (path: string): string[] => [
  `f=${quoted(path)}`,
  `if [ -d "$f" ]; then exit ${CODES.folder}; fi`,
  `if [ ! -e "$f" ]; then exit ${CODES.absent}; fi`,
  `if [ ! -f "$f" ]; then exit ${CODES.special}; fi`,
  `if [ ! -r "$f" ]; then exit ${CODES.denied}; fi`,
]

const run = (
  { machine, signal }: MachineHandsOptions,
  command: string,
  keptBytes: number,
): Promise<ProcessResult> =>
  machine.run({ command, signal, timeoutMs: TIMEOUT_MS, keptBytes: Math.ceil(keptBytes) })

function output({ machine }: MachineHandsOptions, result: ProcessResult): string {
  if (result.ended === "timeout") throw new ToolFailure(`${machine.name} did not answer in time`)
  if (result.ended === "cancelled") throw new ToolFailure("the turn was cancelled")
  if (result.exitCode === 0) return result.stdout.text()
  const kinds = Object.keys(CODES) as FileProblemKind[]
  const kind = kinds.find((name) => CODES[name] === result.exitCode)
  if (kind) throw new FileProblem(kind)
  throw new ToolFailure(result.stderr.text().trim() || `${machine.name} failed without saying why`)
}

/** One word for `sh`. A leading ~ is the home, where scripts begin. */
function quoted(path: string): string {
  const fromHome = path === "~" ? "." : path.replace(/^~\//, "./")
  return `'${fromHome.replaceAll("'", `'\\''`)}'`
}
