/**
 * The software bill of materials as CycloneDX 1.6 JSON (https://cyclonedx.org/docs/1.6/json/), out of bun.lock
 * and the installed manifests: the program, the runtime inside it, and every package that it may have in it.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Manifest {
  name: string
  version: string
  license?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** Of a package in bun.lock: `name@version`, registry, what it needs, integrity. */
type LockEntry = [id: string, registry: string, needs: LockNeeds, integrity: string]
interface LockNeeds {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalPeers?: string[]
}

interface Lock {
  packages: Record<string, LockEntry>
}

export interface BillOptions {
  /** Holds package.json, bun.lock and node_modules. */
  root: string
  commit: string
}

/** Everything in it depends on these files alone, so one tree gives one bill. */
export function billOfMaterials({ root, commit }: BillOptions): object {
  const own = readManifest(root)
  const lock = Bun.JSONC.parse(readFileSync(join(root, "bun.lock"), "utf8")) as Lock
  const packages = closure(lock, own, (key) => existsSync(join(root, installedPath(key))))
  const runtime = { "bom-ref": `bun@${Bun.version}`, name: "bun", version: Bun.version }
  const program = `${own.name}@${own.version}`
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": program,
        name: own.name,
        version: own.version,
        licenses: licenses(own.license),
        purl: `pkg:generic/${own.name}@${own.version}`,
        properties: [{ name: "eva-kernel:commit", value: commit }],
      },
    },
    components: [
      {
        type: "platform",
        ...runtime,
        licenses: licenses("MIT"),
        purl: `pkg:npm/bun@${Bun.version}`,
      },
      ...[...packages].map(([id, { key }]) => component(root, { key, id, lock })),
    ],
    dependencies: [
      {
        ref: program,
        dependsOn: [
          runtime["bom-ref"],
          ...Object.keys(own.dependencies ?? {}).map((name) => lock.packages[name]![0]),
        ].sort(),
      },
      { ref: runtime["bom-ref"] },
      ...[...packages].map(([ref, { needs }]) => ({
        ref,
        dependsOn: [...new Set(needs.map((need) => lock.packages[need]![0]))].sort(),
      })),
    ],
  }
}

/**
 * Everything that is reached from our dependencies, by id, with its key and the keys of what it needs. A peer that we
 * have for development alone (the compiler, types) is no part of the program.
 */
function closure(lock: Lock, own: Manifest, isInstalled: (key: string) => boolean) {
  const found = new Map<string, string[]>()
  const queue = Object.keys(own.dependencies ?? {}).map((name) => resolveKey(lock, name, ""))
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    if (found.has(key)) continue
    const { dependencies, optionalDependencies, peerDependencies, optionalPeers } =
      lock.packages[key]![2]
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (name) => !optionalPeers?.includes(name) && !Object.hasOwn(own.devDependencies ?? {}, name),
    )
    const parent = key
    const required = [...Object.keys(dependencies ?? {}), ...peers].map((name) =>
      resolveKey(lock, name, parent),
    )
    const optional = Object.keys(optionalDependencies ?? {})
      .map((name) => resolveKey(lock, name, parent))
      .filter(isInstalled)
    found.set(key, [...required, ...optional])
    queue.push(...required, ...optional)
  }
  // The same package may be installed at two places.
  const byId = [...found].map(([key, needs]) => [lock.packages[key]![0], { key, needs }] as const)
  return new Map(byId.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The nearest one: below the package itself, below what is around it, else at the top. */
function resolveKey(lock: Lock, name: string, parent: string): string {
  for (let around = parent; around !== ""; around = outer(around)) {
    const key = `${around}/${name}`
    if (Object.hasOwn(lock.packages, key)) return key
  }
  if (Object.hasOwn(lock.packages, name)) return name
  throw new Error(`bun.lock has no ${name}, which ${parent || "package.json"} needs`)
}

/** `a/@b/c/d` is d in @b/c in a; the outer of it is `a/@b/c`. */
function outer(key: string): string {
  const parts = key.split("/")
  parts.pop()
  if (parts.at(-1)?.startsWith("@")) parts.pop()
  return parts.join("/")
}

function component(
  root: string,
  { key, id, lock }: { key: string; id: string; lock: Lock },
): object {
  const at = id.lastIndexOf("@")
  const [name, version] = [id.slice(0, at), id.slice(at + 1)]
  return {
    type: "library",
    "bom-ref": id,
    name,
    version,
    licenses: licenses(readManifest(join(root, installedPath(key))).license),
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    hashes: [{ alg: "SHA-512", content: sha512Hex(lock.packages[key]![3]) }],
  }
}

/** `a/@b/c` lies in `node_modules/a/node_modules/@b/c`. */
const installedPath = (key: string): string =>
  key.replaceAll(/(^|\/)((?:@[^/]+\/)?[^/]+)/g, "$1node_modules/$2")

function sha512Hex(integrity: string): string {
  const base64 = /^sha512-(.+)$/.exec(integrity)?.[1]
  if (!base64) throw new Error(`expected a sha512 in bun.lock, found ${integrity}`)
  return Buffer.from(base64, "base64").toString("hex")
}

const licenses = (license = "NOASSERTION"): object[] =>
  /[ ()]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }]

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
