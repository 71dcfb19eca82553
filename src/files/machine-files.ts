/**
 * Whole files of an ssh host, by scripts for its `sh` that need no more than POSIX and base64. What is written
 * comes over standard input into a file beside the target, is counted, and replaces it at one stroke.
 */
import { posix } from "node:path"
import type { NewId } from "../lib/id.ts"
import { shellWord } from "../lib/shell-word.ts"
import type { ProcessResult } from "../tools/process.ts"
import { ToolFailure } from "../tools/tool.ts"
import { type DiskFile, type DiskKind, LEADS_NOWHERE } from "./local-disk.ts"
import {
  CHECKED,
  fileChecks,
  OWN_CODES,
  pathWord,
  runScript,
  type ScriptPlace,
  scriptFailure,
} from "./machine-script.ts"
import type { WholeFiles, WriteOptions } from "./whole-files.ts"

export interface MachineFilesOptions extends ScriptPlace {
  newId: NewId
}

/** Larger files are not for a patch. */
const FILE_BYTES_MAX = 32 * 1024 * 1024
/** Of a file in base64 with its line ends, and the line before it. */
const OUTPUT_BYTES_MAX = Math.ceil(FILE_BYTES_MAX * 1.4) + 1000

/** Exit codes of the scripts here. */
const CODES = {
  large: OWN_CODES,
  changed: OWN_CODES + 1,
  torn: OWN_CODES + 2,
  nowhere: OWN_CODES + 3,
} as const

const REFUSALS: Partial<Record<number, string>> = {
  [CHECKED.folder]: "it is a directory",
  [CHECKED.special]: "it is not a regular file",
  [CHECKED.denied]: "it may not be read",
  [CODES.large]: `it is larger than ${FILE_BYTES_MAX} bytes`,
  [CODES.changed]: "the file was changed meanwhile; read it again",
  [CODES.nowhere]: LEADS_NOWHERE,
  [CODES.torn]: "the connection broke while it was sent; the file is as before",
}

export function machineFiles(options: MachineFilesOptions): WholeFiles {
  return {
    kindOf: (path) => kindOf(options, path),
    read: (path) => read(options, path),
    write: (path, bytes, wanted = {}) => write(options, path, { bytes, ...wanted }),
    remove: async (path) => {
      const result = await run(options, `rm -- ${pathWord(path)}`)
      if (result.exitCode !== 0) throw failure(options, result)
    },
  }
}

async function kindOf(options: MachineFilesOptions, path: string): Promise<DiskKind> {
  const result = await run(options, fileChecks(path))
  switch (result.exitCode) {
    case 0:
      return "file"
    case CHECKED.absent:
      return "absent"
    case CHECKED.folder:
      return "directory"
    case CHECKED.special:
      return "other"
    default:
      throw failure(options, result)
  }
}

async function read(options: MachineFilesOptions, path: string): Promise<DiskFile | undefined> {
  const result = await run(
    options,
    [
      fileChecks(path),
      `[ "$(wc -c < "$f")" -le ${FILE_BYTES_MAX} ] || exit ${CODES.large}`,
      `${modeOf("$f")} || echo`,
      'base64 < "$f"',
    ].join("\n"),
  )
  if (result.exitCode === CHECKED.absent) return undefined
  if (result.exitCode !== 0) throw failure(options, result)
  const [mode = "", ...lines] = result.stdout.text().split("\n")
  return {
    bytes: Buffer.from(lines.join(""), "base64"),
    ...(mode !== "" && { mode: Number.parseInt(mode, 8) }),
  }
}

async function write(
  options: MachineFilesOptions,
  path: string,
  { bytes, mode, expectSha256 }: WriteOptions & { bytes: Uint8Array },
): Promise<void> {
  const beside = `.${posix.basename(path)}.${options.newId()}.tmp`
  const script = [
    "set -e",
    `f=${pathWord(path)}`,
    // A link stays one: its target is replaced.
    `if [ -L "$f" ]; then [ -e "$f" ] || exit ${CODES.nowhere}; f=$(readlink -f -- "$f"); fi`,
    'folder=$(dirname -- "$f"); mkdir -p -- "$folder"',
    `beside="$folder/"${shellWord(beside)}`,
    // A shell that a signal ends says no EXIT by itself.
    `trap 'rm -f -- "$beside"' EXIT; trap 'exit 1' HUP INT TERM`,
    'cat > "$beside"',
    `[ "$(wc -c < "$beside")" -eq ${bytes.byteLength} ] || exit ${CODES.torn}`,
    ...(expectSha256 === undefined ? [] : [refuseChanged(expectSha256)]),
    `if [ -e "$f" ]; then mode=$(${modeOf("$f")}); else mode=${mode?.toString(8) ?? ""}; fi`,
    'if [ -n "$mode" ]; then chmod "$mode" "$beside"; fi',
    'mv -f -- "$beside" "$f"',
  ].join("\n")
  const result = await run(options, script, bytes)
  if (result.exitCode !== 0) throw failure(options, result)
}

/** GNU and BusyBox, then BSD. */
const modeOf = (file: string): string =>
  `{ stat -c %a -- "${file}" || stat -f %Lp -- "${file}"; } 2>/dev/null`

const refuseChanged = (expected: string | null): string =>
  expected === null
    ? `[ ! -e "$f" ] || exit ${CODES.changed}`
    : `sum=$({ sha256sum < "$f" || shasum -a 256 < "$f"; } 2>/dev/null)
[ "\${sum%% *}" = ${expected} ] || exit ${CODES.changed}`

const run = (
  options: MachineFilesOptions,
  command: string,
  input?: Uint8Array,
): Promise<ProcessResult> =>
  runScript(options, { command, keptBytes: OUTPUT_BYTES_MAX, ...(input && { input }) })

function failure(options: MachineFilesOptions, result: ProcessResult): ToolFailure {
  const refusal = result.exitCode === null ? undefined : REFUSALS[result.exitCode]
  return refusal === undefined ? scriptFailure(options, result) : new ToolFailure(refusal)
}
