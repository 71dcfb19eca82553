/**
 * The flake and its NixOS module, evaluated by Nix against a stand-in for nixpkgs (nixpkgs.nix beside this file),
 * and the script of its activation with real processes.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const ROOT = join(import.meta.dir, "../..")
const SWAP = join(ROOT, "packaging/nix/swap-mcp.sh")

const hasNix = Bun.which("nix-instantiate") !== null
if (!hasNix) process.stderr.write("skipped: nix-instantiate is not installed\n")

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "eva-nix-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function instantiate(...args: string[]): string {
  // Nix wants a store to keep its state in; an own one needs no rights.
  const { stdout, stderr, exitCode } = Bun.spawnSync(["nix-instantiate", ...args], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      NIX_STORE_DIR: join(folder, "store"),
      NIX_STATE_DIR: join(folder, "state"),
      NIX_LOG_DIR: join(folder, "log"),
      NIX_REMOTE: "",
    },
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

/** Evaluates an expression in which `flake`, `pkgs` and `nixos` (services.eva-kernel → result) stand ready. */
function evaluate<Result>(expression: string): Result {
  const text = `
    let
      stub = import ${join(import.meta.dir, "nixpkgs.nix")};
      inherit (stub) pkgs;
      flake = (import ${join(ROOT, "flake.nix")}).outputs {
        self = flake // { shortRev = "abc1234"; };
        nixpkgs = {
          lib = stub.lib // {
            importJSON = path: builtins.fromJSON (builtins.readFile path);
            licenses.mit = "MIT";
            fileset = { toSource = { root, fileset }: fileset; unions = map toString; };
          };
          legacyPackages = builtins.listToAttrs (map (name: { inherit name; value = pkgs // {
            lib = stub.lib // {
              importJSON = path: builtins.fromJSON (builtins.readFile path);
              licenses.mit = "MIT";
              fileset = { toSource = { root, fileset }: fileset; unions = map toString; };
            };
          }; }) [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ]);
        };
      };
      nixos = stub.evaluate { inherit pkgs; module = flake.nixosModules.default; };
      outputs = flake.packages.x86_64-linux;
    in ${expression}`
  return JSON.parse(instantiate("--eval", "--strict", "--json", "-E", text)) as Result
}

interface Unit {
  path: string[]
  serviceConfig: Record<string, unknown>
}
interface Evaluated {
  options: Record<string, unknown> & { settings: Record<string, unknown> }
  config: {
    assertions: { assertion: boolean; message: string }[]
    systemd: { services: Record<string, Unit> }
    system: { activationScripts: { "eva-mcp": { text: string } } }
    users?: unknown
  }
}

const SERVICE = 'enable = true; settings.llm = { provider = "mock"; };'
const nixos = (given: string): Evaluated => evaluate(`nixos { ${SERVICE} ${given} }`)
const unitOf = ({ config }: Evaluated): Unit => config.systemd.services["eva-kernel"]!

describe.skipIf(!hasNix)("the files", () => {
  test.each(["flake.nix", "packaging/nix/module.nix"])("%s parses", (file) => {
    expect(instantiate("--parse", join(ROOT, file)).length).toBeGreaterThan(100)
  })
})

describe.skipIf(!hasNix)("services.eva-kernel", () => {
  test("NIX-001 NIX-002: settings go into the store with their defaults, secret files are only named", () => {
    const got = nixos('extraConfigFiles = [ "/run/secrets/a.yaml" "/run/secrets/b.yaml" ];')
    expect(got.options.settings).toEqual({
      server: { listen: "127.0.0.1:8090" },
      db: { path: "/var/lib/eva-kernel/eva.db" },
      llm: { provider: "mock" },
    })
    const { serviceConfig } = unitOf(got)
    expect(serviceConfig.ExecStart).toMatch(
      /^\/nix\/eva-kernel\/bin\/eva-kernel serve --config \/nix\/[0-9a-f]{64}-eva-kernel\.yaml --config \/run\/secrets\/a\.yaml --config \/run\/secrets\/b\.yaml$/,
    )
    expect(serviceConfig.StateDirectory).toBe("eva-kernel")
  })

  test("NIX-001: nothing happens unless it is enabled, and an option that does not exist is refused", () => {
    expect(evaluate<unknown>("(nixos { }).config")).toEqual({})
    expect(() => nixos("setings = { };")).toThrow("there is no option services.eva-kernel.setings")
  })

  test("NIX-002: the defaults give way to what is written", () => {
    const { options } = nixos(
      'settings.server.listen = "0.0.0.0:1"; settings.db.path = "/srv/eva.db";',
    )
    expect(options.settings).toMatchObject({
      server: { listen: "0.0.0.0:1" },
      db: { path: "/srv/eva.db" },
    })
  })

  test("NIX-003: user and group are eva-kernel unless others are named, and are not created", () => {
    const usual = nixos("")
    expect(unitOf(usual).serviceConfig).toMatchObject({ User: "eva-kernel", Group: "eva-kernel" })
    expect(usual.config.users).toBeUndefined()
    expect(unitOf(nixos('user = "me"; group = "us";')).serviceConfig).toMatchObject({
      User: "me",
      Group: "us",
    })
  })

  test("NIX-004: the unit finds the programs of the host and has 180 seconds to stop", () => {
    const { path, serviceConfig } = unitOf(nixos(""))
    expect(path).toContain("/run/current-system/sw")
    expect(serviceConfig.TimeoutStopSec).toBe(180)
  })

  const SERVERS = `mcp = {
    kana.command = [ "/nix/kana-1/bin/kana-mcp" "--fast" ];
    kana.env.LEVEL = "2";
    redose = { url = "http://127.0.0.1:8765/mcp"; trusted_only = true; timeout = "1m"; access = "everyone"; description = "Doses"; };
  };`

  test("NIX-005: an MCP server takes its seven settings, and a stdio program hides behind its link", () => {
    const got = nixos(SERVERS)
    expect(got.options.settings.mcp).toEqual({
      servers: {
        kana: {
          command: ["/run/eva-mcp/kana"],
          env: { LEVEL: "2" },
          access: "master",
          trusted_only: false,
        },
        redose: {
          url: "http://127.0.0.1:8765/mcp",
          access: "everyone",
          trusted_only: true,
          timeout: "1m",
          description: "Doses",
        },
      },
    })
    expect(got.config.system.activationScripts["eva-mcp"].text).toMatch(
      /swap-mcp\.sh \/run\/eva-mcp 'kana=\/nix\/[0-9a-f]{64}-eva-mcp-kana'\n$/,
    )
    expect(got.config.assertions.every(({ assertion }) => assertion)).toBe(true)
  })

  test("NIX-005: a server with neither or both of command and url is refused by name", () => {
    const { config } = nixos('mcp = { none = { }; both = { command = [ "a" ]; url = "b"; }; };')
    expect(config.assertions).toEqual([
      { assertion: false, message: "services.eva-kernel.mcp.both needs either a command or a url" },
      { assertion: false, message: "services.eva-kernel.mcp.none needs either a command or a url" },
    ])
  })

  test("NIX-006: a new version of a server changes the activation alone, not the unit or its configuration", () => {
    const [before, after] = [nixos(SERVERS), nixos(SERVERS.replace("kana-1", "kana-2"))]
    expect(unitOf(after)).toEqual(unitOf(before))
    expect(after.options.settings).toEqual(before.options.settings)
    expect(after.config.system).not.toEqual(before.config.system)
  })
})

describe.skipIf(!hasNix)("the outputs", () => {
  test("NIX-009: the image eva-kernel:latest serves on 8080 with the mounted configuration", () => {
    const image = evaluate<{ name: string; tag: string; config: Record<string, unknown> }>(
      "{ inherit (outputs.dockerImage) name tag config; }",
    )
    expect(image).toMatchObject({
      name: "eva-kernel",
      tag: "latest",
      config: {
        Entrypoint: ["/bin/eva-kernel"],
        Cmd: ["serve", "--config", "/config/config.yaml"],
        ExposedPorts: { "8080/tcp": {} },
        Volumes: { "/data": {} },
      },
    })
    expect(image.config.Env).toEqual(
      expect.arrayContaining(["EVA_SERVER__LISTEN=0.0.0.0:8080", "EVA_DB__PATH=/data/eva.db"]),
    )
  })

  test("NIX-010: the commit is pinned into the build, and the documentation is a package", () => {
    expect(evaluate<string>("outputs.default.EVA_COMMIT")).toBe("abc1234")
    const script = evaluate<string>("outputs.docs.script")
    expect(script).toContain("$out/share/doc/eva-kernel")
    expect(script).toContain("eva-kernel config reference")
  })

  test("each platform has its package, and there is a shell to develop in", () => {
    expect(evaluate<string[]>("builtins.attrNames flake.packages")).toHaveLength(4)
    expect(evaluate<string[]>("builtins.attrNames outputs")).toEqual([
      "bun",
      "default",
      "dockerImage",
      "docs",
    ])
    expect(evaluate<number>("builtins.length flake.devShells.x86_64-linux.default.packages")).toBe(
      3,
    )
  })

  test("the flake names every file that the build reads", () => {
    const files = evaluate<string[]>("outputs.default.src")
    expect(files).toContain(join(ROOT, "src"))
    for (const file of files) expect([file, existsSync(file)]).toEqual([file, true])
  })

  test("the runtime of the flake is the one that everything here is tested with", () => {
    expect(evaluate<string>("outputs.bun.version")).toBe(Bun.version)
  })
})

describe.skipIf(process.platform !== "linux")("the activation", () => {
  const links = (): string => join(folder, "eva-mcp")
  const swap = (...pairs: string[]): void => {
    const { exitCode, stderr } = Bun.spawnSync(["sh", SWAP, links(), ...pairs])
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" })
  }
  /** As the launcher of the module is: marked, then the program. */
  const program = (name: string, version: string): string => {
    const path = join(folder, `${name}-${version}`)
    const text = `#!/bin/sh\nexport EVA_MCP_SERVER=${links()}/${name}\necho ${version}\nexec sleep 60\n`
    writeFileSync(path, text, { mode: 0o755 })
    return path
  }
  const started = async (name: string) => {
    const child = Bun.spawn([join(links(), name)], { stdout: "pipe", stdin: "ignore" })
    const { value } = await child.stdout.getReader().read()
    return { child, said: new TextDecoder().decode(value).trim() }
  }

  test("NIX-006: it swaps the link, ends the old process and leaves the others running", async () => {
    swap(`kana=${program("kana", "v1")}`, `other=${program("other", "v1")}`)
    const [old, other] = [await started("kana"), await started("other")]
    try {
      expect(old.said).toBe("v1")
      swap(`kana=${program("kana", "v2")}`, `other=${join(folder, "other-v1")}`)
      await old.child.exited
      expect(old.child.signalCode).toBe("SIGTERM")
      expect(other.child.exitCode).toBeNull()
      const fresh = await started("kana")
      expect(fresh.said).toBe("v2")
      fresh.child.kill()
    } finally {
      old.child.kill()
      other.child.kill()
    }
  })

  test("without a change nothing is touched; a server that is gone takes its link and process with it", async () => {
    const pair = `kana=${program("kana", "v1")}`
    swap(pair)
    const { child } = await started("kana")
    swap(pair)
    expect(child.exitCode).toBeNull()
    expect(readlinkSync(join(links(), "kana"))).toBe(join(folder, "kana-v1"))
    swap()
    await child.exited
    expect(existsSync(join(links(), "kana"))).toBe(false)
  })
})
