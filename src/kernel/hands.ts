/** What acts on machines: the shell, and the files of the machine that it works on. */
import { createFiles, type Files, type FilesOptions } from "./files.ts"
import { createShell, type Shell, type ShellOptions } from "./shell.ts"

export type HandsOptions = Omit<FilesOptions, "machine"> & ShellOptions

export function createHands(options: HandsOptions): { shell: Shell; files: Files } {
  const shell = createShell(options)
  return { shell, files: createFiles({ ...options, machine: shell.machine }) }
}
