/** Files in numbered versions: every line names its version, so that a torn file shows. */

export const FILE_NAMES = ["a", "b", "c", "d"]
const LINES = 2000

export const textOf = (version: number): string => `version ${version}\n`.repeat(LINES)

/** The patch from one version of all files to the next. */
export function nextVersion(version: number): string {
  const lines = (mark: string, of: number) => Array(LINES).fill(`${mark}version ${of}`)
  const sections = FILE_NAMES.flatMap((name) => [
    ...[`*** Update File: ${name}`, "@@"],
    ...[...lines("-", version), ...lines("+", version + 1)],
  ])
  return ["*** Begin Patch", ...sections, "*** End Patch"].join("\n")
}
