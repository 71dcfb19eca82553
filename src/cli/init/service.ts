/** Keeps a kernel running for one user: a unit of systemd on Linux, an agent of launchd on macOS. */
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { Environment } from "../../lib/environment.ts"

export interface Service {
  path: string
  text: string
  /** Starts it now and at every login. */
  startCommand: string
  /** `systemd` or `launchd`. */
  kind: string
}

const LAUNCHD_LABEL = "dev.eva.kernel"
/** Above `server.drain`, so that running turns may end by themselves. */
const STOP_SECONDS = 180
/** What the runtime takes the memory of the machine to be: it decides how early garbage is collected. */
const CLEARS_UP_AS_WITH_BYTES = 512 * 1024 * 1024

/** The service of this platform; undefined where there is no such manager. */
export function serviceFor(
  command: readonly string[],
  environment: Environment,
  platform = process.platform,
): Service | undefined {
  const home = environment.HOME ?? homedir()
  if (platform === "darwin") {
    const path = join(home, "Library", "LaunchAgents", `${LAUNCHD_LABEL}.plist`)
    const startCommand = `launchctl bootstrap gui/$(id -u) ${shellWord(path)}`
    return { path, text: launchAgent(command, home), startCommand, kind: "launchd" }
  }
  if (platform !== "linux") return undefined
  const xdg = environment.XDG_CONFIG_HOME
  const config = xdg && isAbsolute(xdg) ? xdg : join(home, ".config")
  return {
    path: join(config, "systemd", "user", "eva-kernel.service"),
    text: systemdUnit(command),
    startCommand: "systemctl --user enable --now eva-kernel",
    kind: "systemd",
  }
}

/** Whether the manager runs here; a container has none. sd_booted(3) looks at the same place. */
export const managerRuns = (platform = process.platform): boolean =>
  platform === "darwin" || (platform === "linux" && existsSync("/run/systemd/system"))

/**
 * A unit for the user's own manager. What needs privileges to set up is left to the system's unit; memory that
 * is written and executed is not denied anywhere, because the runtime compiles as it runs.
 */
export const systemdUnit = (command: readonly string[]): string => `[Unit]
Description=eva-kernel: a home for one person's AI agent
Documentation=man:eva-kernel(1)
After=network-online.target

[Service]
Type=exec
ExecStart=${command.map(systemdWord).join(" ")}
Restart=on-failure
RestartSec=2
TimeoutStopSec=${STOP_SECONDS}
UMask=0077
# The runtime clears up as on a machine of 512 MiB: a fifth less memory under load. It takes more when it must.
Environment=BUN_JSC_forceRAMSize=${CLEARS_UP_AS_WITH_BYTES}
# A foreign BUN_OPTIONS would load code into the kernel before it starts.
UnsetEnvironment=BUN_OPTIONS BUN_BE_BUN BUN_INSPECT BUN_INSPECT_PRELOAD
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`

/** systemd expands `%` and `$` and splits at spaces, see systemd.service(5), "Command lines". */
function systemdWord(word: string): string {
  const plain = word.replaceAll("%", "%%").replaceAll("$", "$$$$")
  return /^[\w@%:+./=,$-]+$/.test(plain) ? plain : `"${plain.replaceAll(/["\\]/g, "\\$&")}"`
}

const launchAgent = (
  command: readonly string[],
  home: string,
): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LAUNCHD_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${xml(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>BUN_JSC_forceRAMSize</key>
    <string>${CLEARS_UP_AS_WITH_BYTES}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>${STOP_SECONDS}</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>${xml(join(home, "Library", "Logs", "eva-kernel.log"))}</string>
</dict>
</plist>
`

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** As a shell of POSIX reads it back. */
export const shellWord = (word: string): string =>
  /^[\w@%:+./=,~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
