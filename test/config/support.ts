/** Configuration files in a directory of their own, loaded the way the binary loads them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { LoadedConfig } from "../../src/config/build.ts"
import { loadConfig } from "../../src/config/load.ts"
import type { Environment } from "../../src/lib/environment.ts"
import { KernelError } from "../../src/lib/error.ts"

/** The smallest complete configuration. */
export const MINIMAL = "server: {}\ndb: { path: eva.db }\nllm: { provider: mock }\n"

export interface ConfigFolder extends Disposable {
  dir: string
  write(name: string, content: string): void
  /** Loads these files; by default `config.yaml`. */
  load(files?: string[], environment?: Environment): Promise<LoadedConfig>
}

export function configFolder(files: Record<string, string> = {}): ConfigFolder {
  const dir = mkdtempSync(join(tmpdir(), "eva-config-"))
  const write = (name: string, content: string) => writeFileSync(join(dir, name), content)
  for (const [name, content] of Object.entries(files)) write(name, content)
  return {
    dir,
    write,
    load: (names = ["config.yaml"], environment = {}) =>
      loadConfig({ files: names, environment, cwd: dir }),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** Loads one YAML text. */
export async function loadText(yaml: string, environment: Environment = {}): Promise<LoadedConfig> {
  using folder = configFolder({ "config.yaml": yaml })
  return await folder.load(["config.yaml"], environment)
}

/** The configuration error that this work ends with. */
export async function configError(work: Promise<unknown>): Promise<KernelError> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof KernelError && outcome.code === "config") return outcome
  throw new Error(`expected a configuration error, got ${String(outcome)}`)
}
