/** From sources to the resolved configuration: merge, retire, resolve, complete, check. */
import type { Environment } from "../lib/environment.ts"
import { isObject } from "../lib/json.ts"
import { checkConfig } from "./check.ts"
import { completeConfig } from "./complete.ts"
import { type Merged, mergeSources, type Source, type Tree } from "./merge.ts"
import { type Problem, throwProblems } from "./problem.ts"
import { resolveTree } from "./resolve.ts"
import { retireKeys } from "./retired.ts"
import { Config, REQUIRED_SECTIONS, UNBUILT_SECTIONS } from "./schema.ts"

export interface BuildOptions {
  /** The last one wins. */
  sources: readonly Source[]
  environment: Environment
  /** The directory of the configuration: defaults such as `tools.d` lie in it. */
  directory: string
}

export interface LoadedConfig {
  config: Config
  /** One line each, for the log at start. */
  warnings: string[]
  /** The files and environment variables that were read, in order. */
  sources: string[]
}

/** Throws KernelError("config") with one line for each problem found. */
export function buildConfig({ sources, environment, directory }: BuildOptions): LoadedConfig {
  const merged = mergeSources(sources)
  const retired = retireKeys(merged.tree)
  const built = dropUnbuilt(retired.tree)
  throwProblems(missingSections(merged.tree))

  const { value, problems } = resolveTree({
    merged: { ...merged, tree: withMockModel(built.tree) },
    schema: Config,
    directory,
    home: environment.HOME ?? environment.USERPROFILE,
  })
  throwProblems(problems)

  const completed = completeConfig(value as Config, environment)
  const checked = checkConfig(completed.config)
  throwProblems(checked.problems.map((problem) => withSource(problem, merged)))
  return {
    config: completed.config,
    warnings: [...retired.warnings, ...built.warnings, ...completed.warnings, ...checked.warnings],
    sources: sources.map((source) => source.name),
  }
}

function missingSections(tree: Tree): Problem[] {
  return REQUIRED_SECTIONS.filter((name) => !Object.hasOwn(tree, name)).map((name) => ({
    path: name,
    message: "this section is required; server, db and llm must be present",
  }))
}

/** Sections of later versions do not stop an older kernel from starting. */
function dropUnbuilt(tree: Tree): { tree: Tree; warnings: string[] } {
  const entries = Object.entries(tree)
  return {
    tree: Object.fromEntries(entries.filter(([name]) => !UNBUILT_SECTIONS.includes(name))),
    warnings: entries
      .filter(([name]) => UNBUILT_SECTIONS.includes(name))
      .map(([name]) => `section ${name} is not built yet and has no effect`),
  }
}

/** The mock answers to any name, so `llm: { provider: mock }` is enough to start. */
function withMockModel(tree: Tree): Tree {
  const { llm } = tree
  if (!isObject(llm) || llm.provider !== "mock") return tree
  if (llm.model === undefined || llm.model === null) {
    return { ...tree, llm: { ...llm, model: { general: "mock" } } }
  }
  return isObject(llm.model)
    ? { ...tree, llm: { ...llm, model: { general: "mock", ...llm.model } } }
    : tree
}

function withSource(problem: Problem, merged: Merged): Problem {
  const path = problem.path.replaceAll(/\[(\d+)\]/g, ".$1").split(".")
  const source = merged.originOf(path)?.name
  return source === undefined ? problem : { ...problem, source }
}
