/** Commands inside bubblewrap, https://github.com/containers/bubblewrap: bwrap(1). */
import { existsSync } from "node:fs"
import { KernelError } from "../lib/error.ts"

export interface SandboxOptions {
  writable: readonly string[]
  network: boolean
}

/** Wraps an argument list: the file system read-only, a private /tmp, and only what is listed to write. */
export type Sandbox = (command: readonly string[], cwd: string) => string[]

/** Throws KernelError("config") when bwrap is not there or a path does not exist. */
export function createSandbox(options: SandboxOptions, path: string): Sandbox {
  const bwrap = Bun.which("bwrap", { PATH: path })
  if (!bwrap) {
    const message =
      "bwrap is not installed: install the package bubblewrap, or set shell.sandbox: none"
    throw new KernelError("config", message, { path: "shell.sandbox" })
  }
  const missing = options.writable.find((each) => !existsSync(each))
  if (missing !== undefined) {
    const message = `${missing} does not exist; make it, or take it out of the list`
    throw new KernelError("config", message, { path: "shell.writable" })
  }
  const fixed = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
    ...options.writable.flatMap((each) => ["--bind", each, each]),
    ...["--unshare-pid", "--unshare-ipc", "--die-with-parent"],
    ...(options.network ? [] : ["--unshare-net"]),
  ]
  return (command, cwd) => [bwrap, ...fixed, "--chdir", cwd, "--", ...command]
}
