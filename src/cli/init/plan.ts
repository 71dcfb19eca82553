/** What init would write, worked out before a byte is written: new files, or old ones with what they lack. */
import { readFileSync } from "node:fs"
import type { LoadedConfig } from "../../config/build.ts"
import {
  buildFromTexts,
  type Edit,
  editConfigText,
  editName,
  missingFrom,
} from "../../config/edit.ts"
import { parseYamlTree } from "../../config/file.ts"
import { mergeTrees, type Tree } from "../../config/merge.ts"
import { secretsBeside } from "../../config/user-files.ts"
import type { Environment } from "../../lib/environment.ts"
import { errorText, KernelError } from "../../lib/error.ts"
import { isObject } from "../../lib/json.ts"
import type { Candidate } from "./candidate.ts"
import { configText, llmSection, SECRETS_HEAD } from "./config-text.ts"

/** The two files as they are. */
export interface Existing {
  config: { path: string; text: string | undefined; tree: Tree }
  secrets: { path: string; text: string | undefined; tree: Tree }
  /** Both together. */
  tree: Tree
}

export interface FilePlan {
  path: string
  text: string
  /** Undefined: the file is new. */
  before: string | undefined
  /** Settings that it gets, such as `server.token`; of an old file only. */
  adds: string[]
}

export interface Plan {
  config: FilePlan
  secrets: FilePlan
  loaded: LoadedConfig
}

export interface PlanOptions {
  existing: Existing
  /** Absent: section `llm` stays as it is. */
  candidate?: Candidate
  /** Section `llm` and its key give way to the candidate. */
  replace: boolean
  database: string
  newToken: () => string
  environment: Environment
}

/** Throws KernelError("config") for a file that is there and cannot be read or is no YAML mapping. */
export async function readExisting(configPath: string): Promise<Existing> {
  const [config, secrets] = await Promise.all([
    readPart(configPath),
    readPart(secretsBeside(configPath)),
  ])
  return { config, secrets, tree: mergeTrees(config.tree, secrets.tree) }
}

async function readPart(path: string) {
  const text = readIfThere(path)
  return { path, text, tree: text === undefined ? {} : await parseYamlTree(text, path) }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw new KernelError("config", `cannot read ${path}: ${errorText(error)}`, { cause: error })
  }
}

/** Whether a model is chosen already. */
export function hasModel({ tree }: Existing): boolean {
  const { llm } = tree
  if (!isObject(llm) || llm.provider === undefined) return false
  return llm.provider === "mock" || (isObject(llm.model) && llm.model.general !== undefined)
}

/** The files as they would be, found right as a whole. Throws KernelError("config") when they are not. */
export async function makePlan(options: PlanOptions): Promise<Plan> {
  const config = await planConfig(options)
  const secrets = await planSecrets(options)
  const loaded = await buildFromTexts([config, secrets], {
    environment: options.environment,
    cwd: process.cwd(),
  })
  return { config, secrets, loaded }
}

async function planConfig(options: PlanOptions): Promise<FilePlan> {
  const { candidate, database, replace } = options
  const { path, text: before } = options.existing.config
  if (before === undefined && candidate) {
    return { path, text: configText(candidate, database), before, adds: [] }
  }
  const wanted: Tree = { server: {}, db: { path: database } }
  const edits = missingFrom(options.existing.tree, wanted)
  if (candidate) edits.push(...llmEdits(options.existing.tree, llmSection(candidate), replace))
  return editedPlan({ path, text: before ?? "", before, edits })
}

/** A half-written section keeps its settings; one that is to be replaced loses them all. */
const llmEdits = (tree: Tree, section: Tree, replace: boolean): Edit[] =>
  replace ? [{ path: ["llm"], value: section }] : missingFrom(tree, { llm: section })

async function planSecrets(options: PlanOptions): Promise<FilePlan> {
  const { existing, candidate, replace, newToken } = options
  const { path, text: before } = existing.secrets
  const edits: Edit[] = []
  if (!hasToken(existing.tree)) edits.push({ path: ["server", "token"], value: newToken() })
  const old = isObject(existing.secrets.tree.llm) ? existing.secrets.tree.llm.api_key : undefined
  const fresh = candidate?.apiKey
  // A key that stays behind would be sent to the new provider.
  if (candidate && fresh !== old && (replace || old === undefined)) {
    edits.push({ path: ["llm", "api_key"], value: fresh })
  }
  return editedPlan({ path, text: before ?? SECRETS_HEAD, before, edits })
}

const hasToken = ({ server }: Tree): boolean => isObject(server) && Boolean(server.token)

async function editedPlan({
  edits,
  ...file
}: {
  path: string
  text: string
  before: string | undefined
  edits: Edit[]
}): Promise<FilePlan> {
  return {
    path: file.path,
    text: await editConfigText(file, edits),
    before: file.before,
    adds: edits.map(editName),
  }
}
