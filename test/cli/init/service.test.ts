import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { serviceFor, systemdUnit } from "../../../src/cli/init/service.ts"

const ODD = ["/opt/my apps/eva-kernel", "serve", "--config", '/home/me/100%/$x/a"b\\c.yaml']

test("systemd reads odd words back as they were", () => {
  expect(systemdUnit(ODD)).toContain(
    'ExecStart="/opt/my apps/eva-kernel" serve --config "/home/me/100%%/$$x/a\\"b\\\\c.yaml"\n',
  )
})

test.skipIf(!Bun.which("systemd-analyze"))("systemd finds nothing wrong with the unit", () => {
  const folder = mkdtempSync(join(tmpdir(), "eva unit-"))
  try {
    const unit = join(folder, "eva-kernel.service")
    writeFileSync(
      unit,
      systemdUnit(["/bin/sh", "-c", "true"]).replace("Documentation=man:eva-kernel(1)\n", ""),
    )
    const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", "--user", "verify", unit], {
      env: { PATH: process.env.PATH ?? "", HOME: folder, XDG_RUNTIME_DIR: folder },
    })
    const complaints = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("eva-kernel.service"))
    expect({ exitCode, complaints }).toEqual({ exitCode: 0, complaints: [] })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("launchd gets a property list whose words are the command", () => {
  const service = serviceFor(["/a&b/eva-kernel", "serve"], { HOME: "/Users/me" }, "darwin")!
  expect(service.path).toBe("/Users/me/Library/LaunchAgents/dev.eva.kernel.plist")
  expect(service.startCommand).toBe(`launchctl bootstrap gui/$(id -u) ${service.path}`)
  const [, list = ""] =
    /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(service.text) ?? []
  const words = [...list.matchAll(/<string>(.*)<\/string>/g)].map((match) => match[1])
  expect(words).toEqual(["/a&amp;b/eva-kernel", "serve"])
})

test("a platform without either has no service", () => {
  expect(serviceFor(["eva-kernel"], { HOME: "/" }, "win32")).toBeUndefined()
})
