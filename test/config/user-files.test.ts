import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { configDirectory, userConfigFiles } from "../../src/config/user-files.ts"

test.each([
  [{ HOME: "/h", XDG_CONFIG_HOME: "/x" }, "linux", "/x/eva-kernel"],
  [{ HOME: "/h", XDG_CONFIG_HOME: "relative" }, "linux", "/h/.config/eva-kernel"],
  [{ HOME: "/h" }, "darwin", "/h/Library/Application Support/eva-kernel"],
  [{ HOME: "/h", APPDATA: "/roaming" }, "win32", "/roaming/eva-kernel"],
] as const)("the directory of %j on %s is %s", (environment, platform, directory) => {
  expect(configDirectory(environment, platform)).toBe(directory)
})

test("the files that exist are read, secrets last, with a warning when others can read them", () => {
  const home = mkdtempSync(join(tmpdir(), "eva-home-"))
  try {
    const environment = { HOME: home, XDG_CONFIG_HOME: home }
    const [folder, none] = [join(home, "eva-kernel"), { files: [], warnings: [] }]
    const [config, secrets] = [join(folder, "config.yaml"), join(folder, "secrets.yaml")]
    expect(userConfigFiles(environment)).toEqual(none)
    mkdirSync(folder)
    writeFileSync(secrets, "", { mode: 0o600 })
    // Secrets alone are no configuration.
    expect(userConfigFiles(environment)).toEqual(none)
    writeFileSync(config, "")
    expect(userConfigFiles(environment)).toEqual({ files: [config, secrets], warnings: [] })
    chmodSync(secrets, 0o640)
    expect(userConfigFiles(environment).warnings).toEqual([
      `${secrets} can be read by others: chmod 600 ${secrets}`,
    ])
  } finally {
    rmSync(home, { recursive: true })
  }
})
