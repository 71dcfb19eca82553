/** Project files of an ssh host, in one trip: one script climbs, says what is there, and reads what is wanted. */
import { shellWord } from "../lib/shell-word.ts"
import { pathWord, runScript, type ScriptPlace, scriptFailure } from "./machine-script.ts"
import { PROJECT_DOC_NAMES, type ProjectReader } from "./project-docs.ts"

/** Of each file; a project has few, and what is above the budget is not shown. */
const FILE_BYTES = 64 * 1024
const LEVELS_MAX = 64
const OUTPUT_MAX = 8 * 1024 * 1024

/** Lines: `D dir`, `F name`, and `C size name` with base64 up to a line with a dot. */
const scriptFor = (path: string, names: readonly string[]): string => `
d=$(cd -- ${pathWord(path)} && pwd) || exit 1
i=0
while [ $i -lt ${LEVELS_MAX} ]; do
  i=$((i+1))
  printf 'D %s\\n' "$d"
  for n in ${names.map(shellWord).join(" ")}; do
    if [ -e "$d/$n" ]; then printf 'F %s\\n' "$n"; fi
  done
  for n in ${PROJECT_DOC_NAMES.map(shellWord).join(" ")}; do
    if [ -f "$d/$n" ] && [ -r "$d/$n" ]; then
      printf 'C %s %s\\n' "$(wc -c < "$d/$n")" "$n"
      head -c ${FILE_BYTES} < "$d/$n" | base64
      echo .
    fi
  done
  if [ "$d" = / ]; then break; fi
  d=$(dirname -- "$d")
done`

export function machineProject(place: ScriptPlace): ProjectReader {
  const files = new Map<string, { total: number; bytes: Uint8Array }>()
  return {
    listUp: async (path, names) => {
      const script = { command: scriptFor(path, names), keptBytes: OUTPUT_MAX }
      const result = await runScript(place, script)
      if (result.ended !== "exit" || result.exitCode !== 0) throw scriptFailure(place, result)
      return parse(result.stdout.text(), files)
    },
    read: async (path, size) => {
      const file = files.get(path)
      return file && { total: file.total, bytes: file.bytes.subarray(0, size) }
    },
  }
}

function parse(output: string, files: Map<string, { total: number; bytes: Uint8Array }>) {
  const levels: { dir: string; found: string[] }[] = []
  let [reading, total, encoded] = ["", 0, ""]
  for (const line of output.split("\n")) {
    const level = levels.at(-1)
    if (reading !== "" && line === ".") {
      files.set(reading, { total, bytes: Buffer.from(encoded, "base64") })
      reading = ""
    } else if (reading !== "") encoded += line
    else if (line.startsWith("D ")) levels.push({ dir: line.slice(2), found: [] })
    else if (line.startsWith("F ")) level?.found.push(line.slice(2))
    else if (line.startsWith("C ") && level) {
      const [, size = "0", name = ""] = /^C +(\d+) (.*)$/.exec(line) ?? []
      ;[reading, total, encoded] = [`${level.dir.replace(/\/$/, "")}/${name}`, Number(size), ""]
    }
  }
  return levels
}
