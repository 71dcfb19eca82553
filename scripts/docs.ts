/** Writes the files that are generated from the source; with --check only says which of them are out of date. */
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { configExample } from "../src/config/example.ts"
import { configReference } from "../src/config/reference.ts"

const ROOT = join(import.meta.dir, "..")

const GENERATED: { path: string; content: () => string }[] = [
  { path: "config.example.yaml", content: configExample },
  { path: "docs/reference/config.md", content: configReference },
]

const checking = process.argv.includes("--check")
let stale = 0
for (const { path, content } of GENERATED) {
  const file = Bun.file(join(ROOT, path))
  const wanted = content()
  if ((await file.exists()) && (await file.text()) === wanted) continue
  stale++
  if (checking) {
    process.stderr.write(`${path} is out of date: run bun scripts/docs.ts\n`)
  } else {
    await mkdir(dirname(join(ROOT, path)), { recursive: true })
    await Bun.write(file, wanted)
    process.stdout.write(`wrote ${path}\n`)
  }
}
if (checking && stale > 0) process.exitCode = 1
