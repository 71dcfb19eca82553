/**
 * Builds `dist/eva-kernel`: one executable with the program, its workers and its assets in it.
 *
 *   bun scripts/build.ts [--target bun-linux-arm64] [--outfile PATH]
 *
 * Splitting keeps each lazily imported command in a chunk of its own and bytecode spares the parser:
 * together they cut `--version` to half and the start of the server by a third.
 */
import { chmodSync, existsSync, mkdirSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { parseArgs } from "node:util"
import type { Build } from "bun"

const ROOT = join(import.meta.dir, "..")

/**
 * The program, and what it starts as a thread. All land in one folder of the executable, so that
 * `new URL("./name-worker.ts", import.meta.url)` finds a worker there as it does in the sources:
 * base names must differ.
 */
const ENTRY_POINTS = [
  "src/main.ts",
  "src/store/read-worker.ts",
  "src/memory/recall-worker.ts",
  "src/files/scan-worker.ts",
  "src/history/search-worker.ts",
]

export interface BuildOptions {
  root?: string
  outfile?: string
  /** Another platform, such as `bun-linux-arm64` or `bun-darwin-arm64`; absent: this one. */
  target?: Build.CompileTarget
}

/** Builds the executable and gives its path; throws AggregateError with the bundler's messages. */
export async function build(options: BuildOptions = {}): Promise<string> {
  const root = options.root ?? ROOT
  const outfile = resolve(root, options.outfile ?? "dist/eva-kernel")
  mkdirSync(dirname(outfile), { recursive: true })
  await Bun.build({
    entrypoints: ENTRY_POINTS.map((path) => join(root, path)),
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    splitting: true,
    naming: { entry: "[name].[ext]" },
    define: {
      BUILD_COMMIT: JSON.stringify(commitOf(root)),
      // Some packages ask where they lie, and the answer would be a path of the build machine.
      __dirname: JSON.stringify("/"),
      __filename: JSON.stringify("/"),
    },
    compile: {
      outfile,
      ...(options.target && { target: options.target }),
      // A file that lies in the current folder must not steer a program that was started there.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  })
  chmodSync(outfile, 0o755)
  return outfile
}

/** `EVA_COMMIT` when a packager sets it, else what git says, with a plus when files were changed. */
export function commitOf(root: string): string {
  const given = process.env.EVA_COMMIT
  if (given) return given
  if (!existsSync(join(root, ".git")) || !Bun.which("git")) return "unknown"
  const git = (...args: string[]): string =>
    Bun.spawnSync(["git", ...args], { cwd: root })
      .stdout.toString()
      .trim()
  const hash = git("rev-parse", "--short=12", "HEAD")
  if (!hash) return "unknown"
  return git("status", "--porcelain", "--untracked-files=no") ? `${hash}+` : hash
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { target: { type: "string" }, outfile: { type: "string" } },
  })
  const startedMs = performance.now()
  const outfile = await build({
    outfile: values.outfile,
    target: values.target as Build.CompileTarget | undefined,
  })
  const megabytes = (Bun.file(outfile).size / 1e6).toFixed(1)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`${basename(outfile)}: ${megabytes} MB in ${seconds} s (${outfile})\n`)
}
