/** The compiled kernel as it is shipped, on a temporary database and the fake model server. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Child, startChild } from "./child.ts"

const ROOT = join(import.meta.dir, "../..")

/** `EVA_BINARY` names another build. */
export const BINARY = process.env.EVA_BINARY ?? join(ROOT, "dist/eva-kernel")

export const whyNoBinary = (): string | undefined =>
  existsSync(BINARY) ? undefined : `${BINARY} is not built: run bun run build`

/** The shape of the upstream's answer is in the model's name: 20 deltas, 200,000 deltas. */
const MODELS = ["fake-c20", "fake-c200000"]

/** As the units and the container start it. */
const SERVICE_ENVIRONMENT = { BUN_JSC_forceRAMSize: String(512 * 1024 * 1024) }

export interface Folder extends Disposable {
  path: string
  database: string
}

export function tempFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "eva-bench-"))
  return {
    path,
    database: join(path, "eva.db"),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

interface Asked {
  model?: string
  /** Tokens of history at which a chat is folded; absent: as by default. */
  compactAfter?: number
}

/** Starts a kernel in the folder; `upstreamUrl` may lead nowhere when no model is asked. */
export function startKernel(
  folder: Folder,
  upstreamUrl = "http://127.0.0.1:9",
  { model = MODELS[0]!, compactAfter }: Asked = {},
): Promise<Child> {
  const config = join(folder.path, "config.yaml")
  const models = [...new Set([model, ...MODELS])]
  writeFileSync(
    config,
    `server: { listen: "127.0.0.1:0" }
db: { path: ${JSON.stringify(folder.database)} }
log: { level: error }
llm:
  provider: openai
  base_url: ${upstreamUrl}/v1
  api_key: unused
  model: { general: ${model} }
  models: [${models.map((name) => `{ name: ${name} }`).join(", ")}]
${compactAfter === undefined ? "" : `context: { compact_after_tokens: ${compactAfter} }\n`}`,
  )
  return startChild([BINARY, "serve", "--config", config], SERVICE_ENVIRONMENT)
}
