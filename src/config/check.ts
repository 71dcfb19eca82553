/** Rules that tie settings to each other. The first wrong name stops the start instead of a turn next week. */
import { nearest } from "../lib/text.ts"
import { isLoopback, parseListen } from "./listen.ts"
import type { Problem } from "./problem.ts"
import type { Config } from "./schema.ts"

type Llm = Config["llm"]
type ModelEntry = Llm["models"][number]

/** Problems without their source; warnings for what is odd but works. */
export function checkConfig(config: Config): { problems: Problem[]; warnings: string[] } {
  const { llm } = config
  return {
    problems: [
      ...checkDoor(config.server),
      ...checkMainProvider(llm),
      ...checkUpstreamNames(llm),
      ...checkDoubleNames(llm.models),
      ...checkNotes(config.notes),
      ...(llm.models.length > 0 ? checkModelNames(config) : []),
    ],
    warnings: llm.models.length > 0 ? [] : [EMPTY_MODELS],
  }
}

const EMPTY_MODELS =
  "llm.models is empty: names of models are not checked, and clients have no menu of them"

/** Whoever reaches the port acts as the master, so beyond this machine somebody has to check. */
function checkDoor(server: Config["server"]): Problem[] {
  const address = parseListen(server.listen)
  if (!address || isLoopback(address.hostname) || server.token || server.trust_proxy) return []
  return [
    {
      path: "server.listen",
      message: `${server.listen} can be reached from other machines; set server.token, or server.trust_proxy: true when a reverse proxy checks who calls`,
    },
  ]
}

function checkMainProvider(llm: Llm): Problem[] {
  if (llm.provider !== "venice") return []
  return [
    {
      path: "llm.provider",
      message:
        "venice only draws pictures and cannot serve turns; put it under llm.providers and name it in the entry of a drawing model",
    },
  ]
}

function checkUpstreamNames(llm: Llm): Problem[] {
  const names = Object.keys(llm.providers)
  return llm.models.flatMap(({ provider }, i) =>
    provider === undefined || names.includes(provider)
      ? []
      : [
          {
            path: `llm.models[${i}].provider`,
            message: `${provider} is not in llm.providers${suggestion(provider, names)}`,
          },
        ],
  )
}

function checkDoubleNames(models: readonly ModelEntry[]): Problem[] {
  return models.flatMap(({ name }, i) =>
    models.findIndex((model) => model.name === name) === i
      ? []
      : [{ path: `llm.models[${i}].name`, message: `${name} is listed twice` }],
  )
}

/** A rebuilt notebook must not be due for a rebuild. */
function checkNotes(notes: Config["notes"]): Problem[] {
  const over = (target: keyof typeof notes, limit: keyof typeof notes): Problem[] =>
    Number(notes[target]) <= Number(notes[limit])
      ? []
      : [{ path: `notes.${target}`, message: `is more than notes.${limit} (${notes[limit]})` }]
  return [
    ...over("compact_target_chars", "compact_at_chars"),
    ...over("max_notes", "compact_at_notes"),
  ]
}

/** Every place that names a model, with the name; `text` when that model has to write. */
export function modelNames({
  llm,
  notes,
  sleep,
}: Pick<Config, "llm" | "notes" | "sleep">): { path: string; name: string; text: boolean }[] {
  const { model } = llm
  const named = (path: string, name: string | undefined, text = true) =>
    name === undefined ? [] : [{ path, name, text }]
  return [
    ...named("llm.model.general", model.general),
    ...named("llm.model.fastest", model.fastest),
    ...named("llm.model.smartest", model.smartest),
    ...named("llm.model.advisor", model.advisor),
    ...model.fallback.flatMap((name, i) => named(`llm.model.fallback[${i}]`, name)),
    ...named("llm.code_model", llm.code_model),
    ...named("llm.image_model", llm.image_model, false),
    ...named("llm.summary_model", llm.summary_model),
    ...named("notes.model", notes.model),
    ...named("sleep.memory.model", sleep.memory.model),
    ...named("sleep.tools.model", sleep.tools.model),
  ]
}

function checkModelNames({
  llm,
  notes,
  sleep,
}: Pick<Config, "llm" | "notes" | "sleep">): Problem[] {
  const known = new Map(llm.models.map((model) => [model.name, model]))
  return modelNames({ llm, notes, sleep }).flatMap(({ path, name, text }) => {
    const message = modelProblem(known.get(name), { llm, name, text, known: [...known.keys()] })
    return message === undefined ? [] : [{ path, message }]
  })
}

function modelProblem(
  model: ModelEntry | undefined,
  { llm, name, text, known }: { llm: Llm; name: string; text: boolean; known: string[] },
): string | undefined {
  if (!model) return `${name} is not in llm.models${suggestion(name, known)}`
  if (!text && !model.image_output) {
    return `${name} does not draw; its entry in llm.models needs image_output: true`
  }
  const upstream = model.provider === undefined ? undefined : llm.providers[model.provider]
  return text && upstream?.provider === "venice"
    ? `${name} is served by venice, which only draws pictures`
    : undefined
}

function suggestion(name: string, known: string[]): string {
  const near = nearest(name, known)
  if (near !== undefined) return `; did you mean ${near}?`
  return known.length === 0 ? "" : `; listed are ${known.join(", ")}`
}
