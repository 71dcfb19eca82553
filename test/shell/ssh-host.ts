/** A real sshd on loopback, run as whoever runs the tests, with keys of its own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"

const SSHD = Bun.which("sshd", { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` })
export const canSsh = SSHD !== null && Bun.which("ssh") !== null && process.platform === "linux"
if (!canSsh) process.stderr.write("skipped: there is no sshd (Debian: openssh-server)\n")

export interface SshHost {
  host: string
  /** For ssh: where the key, the port and the known hosts are. */
  sshArguments: string[]
  folder: string
  /** Ends every connection, as a lost network does. */
  dropConnections(): void
  stop(): Promise<void>
}

export async function startSshHost(): Promise<SshHost> {
  const folder = mkdtempSync(join(tmpdir(), "eva-sshd-"))
  for (const name of ["host", "user"]) {
    const made = Bun.spawnSync(
      ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)],
      { stdout: "ignore", stderr: "pipe" },
    )
    if (made.exitCode !== 0) throw new Error(made.stderr.toString())
  }
  const port = await freePort()
  // Without USER in the environment the runtime knows no name.
  const user = Bun.spawnSync(["id", "-un"]).stdout.toString().trim()
  const config = join(folder, "sshd_config")
  writeFileSync(
    config,
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${join(folder, "host")}`,
      `AuthorizedKeysFile ${join(folder, "user.pub")}`,
      `PidFile ${join(folder, "sshd.pid")}`,
      "StrictModes no",
      "UsePAM no",
      "PasswordAuthentication no",
      "PermitRootLogin yes",
      "MaxSessions 100",
      "LogLevel ERROR",
    ].join("\n"),
  )
  if (userInfo().uid === 0) Bun.spawnSync(["mkdir", "-p", "/run/sshd"])
  const daemon = Bun.spawn([SSHD!, "-D", "-e", "-f", config], {
    stdout: "ignore",
    stderr: "ignore",
  })
  const clientConfig = join(folder, "ssh_config")
  writeFileSync(
    clientConfig,
    [
      "Host workbench",
      "  HostName 127.0.0.1",
      `  Port ${port}`,
      `  User ${user}`,
      `  IdentityFile ${join(folder, "user")}`,
      "  IdentitiesOnly yes",
      "  StrictHostKeyChecking no",
      `  UserKnownHostsFile ${join(folder, "known_hosts")}`,
      "  LogLevel ERROR",
    ].join("\n"),
  )
  await listens(port)
  return {
    host: "workbench",
    sshArguments: ["-F", clientConfig],
    folder,
    dropConnections: () => {
      Bun.spawnSync(["pkill", "-KILL", "-P", String(daemon.pid)])
    },
    stop: async () => {
      Bun.spawnSync(["pkill", "-KILL", "-P", String(daemon.pid)])
      daemon.kill("SIGKILL")
      await daemon.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0))
    })
  })
}

async function listens(port: number): Promise<void> {
  for (;;) {
    const open = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data: () => {} },
    }).then(
      (socket) => {
        socket.end()
        return true
      },
      () => false,
    )
    if (open) return
    await Bun.sleep(20)
  }
}
