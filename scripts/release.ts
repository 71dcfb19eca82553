/**
 * Everything that a release holds, in dist/release: the program for seven platforms, each in an archive with
 * its manual, completions and service files; SHA256SUMS over them; a bill of materials.
 *
 *   bun run release [--only linux-x64]... [--out DIR]
 *
 * Bun fetches its own executable for each platform from the npm registry, the first time only.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import type { Build } from "bun"
import packageJson from "../package.json"
import { completions } from "../src/cli/completions.ts"
import { manPage } from "../src/cli/man-page.ts"
import { build, commitOf } from "./build.ts"
import { type ArchivedFile, tarGz, zip } from "./release/archive.ts"
import { billOfMaterials } from "./release/bill-of-materials.ts"

const ROOT = join(import.meta.dir, "..")

interface Platform {
  /** As in the name of the archive. */
  name: string
  target: Build.CompileTarget
}

export const PLATFORMS: readonly Platform[] = [
  { name: "linux-x64", target: "bun-linux-x64" },
  { name: "linux-arm64", target: "bun-linux-arm64" },
  { name: "linux-x64-musl", target: "bun-linux-x64-musl" },
  { name: "linux-arm64-musl", target: "bun-linux-arm64-musl" },
  { name: "macos-arm64", target: "bun-darwin-arm64" },
  { name: "macos-x64", target: "bun-darwin-x64" },
  { name: "windows-x64", target: "bun-windows-x64" },
]

/** What lies beside the program in each archive, by its place there. */
const FILES: Record<string, string> = {
  LICENSE: "LICENSE",
  "README.md": "README.md",
  "config.example.yaml": "config.example.yaml",
  "systemd/eva-kernel.service": "packaging/systemd/eva-kernel.service",
}

interface ReleaseOptions {
  out: string
  platforms: readonly Platform[]
  say: (line: string) => void
}

/** Gives the names of the files, SHA256SUMS last. */
export async function release({ out, platforms, say }: ReleaseOptions): Promise<string[]> {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const names: string[] = []
  const put = (name: string, data: Uint8Array): void => {
    writeFileSync(join(out, name), data)
    names.push(name)
    say(`${(data.length / 1e6).toFixed(1).padStart(6)} MB  ${name}`)
  }
  for (const platform of platforms) put(...(await pack(platform, out)))
  const bill = billOfMaterials({ root: ROOT, commit: commitOf(ROOT) })
  put(`${base}.cdx.json`, Buffer.from(`${JSON.stringify(bill, null, 2)}\n`))
  put(
    "SHA256SUMS",
    Buffer.from(names.map((name) => `${sha256(join(out, name))}  ${name}\n`).join("")),
  )
  return names
}

const base = `${packageJson.name}-${packageJson.version}`

async function pack({ name, target }: Platform, out: string): Promise<[string, Uint8Array]> {
  const windows = target.includes("windows")
  const folder = `${base}-${name}`
  const program = join(out, `${name}${windows ? ".exe" : ""}`)
  await build({ root: ROOT, outfile: program, target })
  const files: ArchivedFile[] = [
    {
      name: `${folder}/eva-kernel${windows ? ".exe" : ""}`,
      data: readFileSync(program),
      executable: true,
    },
    ...companions().map((file) => ({ ...file, name: `${folder}/${file.name}` })),
  ]
  rmSync(program)
  return windows ? [`${folder}.zip`, zip(files)] : [`${folder}.tar.gz`, tarGz(files)]
}

const companions = (): ArchivedFile[] => [
  ...Object.entries(FILES).map(([name, path]) => ({ name, data: readFileSync(join(ROOT, path)) })),
  { name: "man/eva-kernel.1", data: Buffer.from(manPage()) },
  { name: "completions/eva-kernel.bash", data: Buffer.from(completions("bash")) },
  { name: "completions/_eva-kernel", data: Buffer.from(completions("zsh")) },
  { name: "completions/eva-kernel.fish", data: Buffer.from(completions("fish")) },
]

const sha256 = (path: string): string =>
  new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")

function platformsNamed(names: readonly string[]): readonly Platform[] {
  const unknown = names.find((name) => !PLATFORMS.some((platform) => platform.name === name))
  if (unknown !== undefined) {
    throw new Error(`there is no ${unknown}: ${PLATFORMS.map(({ name }) => name).join(", ")}`)
  }
  return names.length === 0 ? PLATFORMS : PLATFORMS.filter(({ name }) => names.includes(name))
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { only: { type: "string", multiple: true }, out: { type: "string" } },
  })
  await release({
    out: resolve(ROOT, values.out ?? "dist/release"),
    platforms: platformsNamed(values.only ?? []),
    say: (line) => void process.stdout.write(`${line}\n`),
  })
}
