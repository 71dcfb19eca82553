/** What a release is made of: the bill of materials, the archives. The seven builds themselves run in `bun run release`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../../package.json"
import { type ArchivedFile, tarGz, zip } from "../../scripts/release/archive.ts"
import { billOfMaterials } from "../../scripts/release/bill-of-materials.ts"
import { PLATFORMS } from "../../scripts/release.ts"

const ROOT = join(import.meta.dir, "../..")

interface Bill {
  metadata: { component: { name: string; version: string } }
  components: {
    "bom-ref": string
    name: string
    licenses: { license?: { id: string } }[]
    purl: string
    hashes?: { alg: string; content: string }[]
  }[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

describe("the bill of materials", () => {
  const bill = billOfMaterials({ root: ROOT, commit: "abc" }) as Bill
  const refs = bill.components.map((component) => component["bom-ref"])

  test("holds the runtime and every package that the program is made of, none that only develops it", () => {
    const names = bill.components.map(({ name }) => name)
    expect(names).toContain("bun")
    expect(names).toEqual(expect.arrayContaining(Object.keys(packageJson.dependencies)))
    for (const name of Object.keys(packageJson.devDependencies)) expect(names).not.toContain(name)
    expect(new Set(refs).size).toBe(refs.length)
  })

  test("each package has a licence, an address and the hash of its archive", () => {
    for (const { name, licenses, purl, hashes } of bill.components) {
      expect(JSON.stringify(licenses)).not.toContain("NOASSERTION")
      expect(purl).toMatch(/^pkg:npm\/[\w.%/-]+@\d/)
      if (name === "bun") continue
      expect(hashes).toEqual([
        { alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) },
      ])
    }
  })

  test("whatever is needed is there, and everything is needed by something", () => {
    const needed = bill.dependencies.flatMap(({ dependsOn = [] }) => dependsOn)
    expect([...new Set(needed)].sort()).toEqual([...refs].sort())
    expect(bill.dependencies.map(({ ref }) => ref).sort()).toEqual(
      [...refs, `${packageJson.name}@${packageJson.version}`].sort(),
    )
  })

  test("comes out the same every time", () => {
    expect(billOfMaterials({ root: ROOT, commit: "abc" })).toEqual(bill)
  })
})

describe("an archive", () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "eva-release-"))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const FILES: ArchivedFile[] = [
    { name: "eva/eva-kernel", data: Buffer.from("#!/bin/sh\necho hello\n"), executable: true },
    { name: "eva/man/eva-kernel.1", data: Buffer.from(".TH") },
  ]
  const run = (...command: string[]): string => {
    const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: folder })
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" })
    return stdout.toString()
  }

  test.skipIf(!Bun.which("tar"))("tar unpacks it with the right to execute", () => {
    writeFileSync(join(folder, "a.tar.gz"), tarGz(FILES))
    run("tar", "-xzf", "a.tar.gz")
    expect(run("./eva/eva-kernel")).toBe("hello\n")
    expect(readFileSync(join(folder, "eva/man/eva-kernel.1"), "utf8")).toBe(".TH")
    expect(statSync(join(folder, "eva/man/eva-kernel.1")).mode & 0o777).toBe(0o644)
  })

  test.skipIf(!Bun.which("python3"))("python unpacks the zip, and the modes are in it", () => {
    writeFileSync(join(folder, "a.zip"), zip(FILES))
    const script = `
import zipfile
for entry in zipfile.ZipFile("a.zip").infolist():
    print(entry.filename, oct(entry.external_attr >> 16), entry.date_time[0])`
    expect(run("python3", "-c", script)).toBe(
      "eva/eva-kernel 0o755 1980\neva/man/eva-kernel.1 0o644 1980\n",
    )
  })

  test("comes out the same every time", () => {
    expect(tarGz(FILES)).toEqual(tarGz(FILES))
    expect(zip(FILES)).toEqual(zip(FILES))
  })
})

test("there are seven platforms, each with a name and a target of its own", () => {
  expect(PLATFORMS.map(({ name }) => name)).toEqual([
    "linux-x64",
    "linux-arm64",
    "linux-x64-musl",
    "linux-arm64-musl",
    "macos-arm64",
    "macos-x64",
    "windows-x64",
  ])
  expect(new Set(PLATFORMS.map(({ target }) => target)).size).toBe(7)
})
