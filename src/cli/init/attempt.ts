/** One choice tried out: the plan it leads to, the answer to a test call, and how much the model holds. */
import type { Config } from "../../config/schema.ts"
import type { CallModel } from "./call-model.ts"
import type { Candidate } from "./candidate.ts"
import { loadedWindow } from "./model-server.ts"
import { makePlan, type Plan, type PlanOptions } from "./plan.ts"
import type { Talk } from "./questions.ts"

/** A cold model of this machine is read from disk first. */
const CALL_MAX_MS = 120_000
/** Below this an agent's own texts and tools leave little room for a conversation. */
const WINDOW_SMALL_TOKENS = 16_000
const ANSWER_CHARS = 80

export interface Attempt {
  plan: Plan
  candidate: Candidate | undefined
  /** Why the model did not answer; undefined when it did, or was not asked. */
  failure: string | undefined
}

export interface AttemptOptions {
  talk: Talk
  plan: PlanOptions
  /** Absent: the model is not called. */
  call: CallModel | undefined
}

/** Tells what it finds, and writes nothing. */
export async function attempt({ talk, plan: options, call }: AttemptOptions): Promise<Attempt> {
  const plan = await makePlan(options)
  const { candidate } = options
  const { config } = plan.loaded
  if (!call) return { plan, candidate, failure: undefined }

  const name = config.llm.model.general
  const called = await talk.during(
    `Asking ${name} to say something`,
    call(config, AbortSignal.timeout(CALL_MAX_MS)),
  )
  if ("failure" in called) {
    await talk.warn(`${name} did not answer: ${called.failure}`)
    return { plan, candidate, failure: called.failure }
  }
  await talk.tell(`${name} answered in ${called.tookMs} ms: ${shortened(called.text)}`)
  if (config.llm.provider === "mock") {
    await talk.tell("It is a mock. With a key or a model server at hand, run eva-kernel init again")
    return { plan, candidate, failure: undefined }
  }

  const listed = config.llm.models.find((model) => model.name === name)?.context_window
  const loaded = await windowOnServer(config)
  await tellWindow(talk, { listed, loaded, from: candidate?.windowFrom })
  if (!candidate || loaded === undefined || loaded === listed) {
    return { plan, candidate, failure: undefined }
  }
  const sized = withWindow(candidate, loaded)
  return {
    plan: await makePlan({ ...options, candidate: sized }),
    candidate: sized,
    failure: undefined,
  }
}

/** Of an upstream with an address of its own: the provider's own is no server of this kind. */
async function windowOnServer({ llm }: Config): Promise<number | undefined> {
  const { base_url: baseUrl, api_key: apiKey, model } = llm
  if (baseUrl === undefined || llm.provider !== "openai") return undefined
  return loadedWindow({ baseUrl, ...(apiKey !== undefined && { apiKey }) }, model.general)
}

async function tellWindow(
  talk: Talk,
  window: { listed: number | undefined; loaded: number | undefined; from: string | undefined },
): Promise<void> {
  const { listed, loaded, from = "the configuration" } = window
  const tokens = loaded ?? listed
  if (tokens === undefined) {
    await talk.tell(
      "Its context window is unknown: neither the server nor our table of models says; set llm.models[0].context_window when you know it",
    )
    return
  }
  const source = loaded === undefined ? from : "the server, as it has the model loaded"
  await talk.tell(`It holds ${tokens.toLocaleString("en")} tokens, from ${source}`)
  if (tokens < WINDOW_SMALL_TOKENS) {
    await talk.warn(
      "That is little for an agent. Start the server with more: OLLAMA_CONTEXT_LENGTH=32768 for Ollama, --ctx-size 32768 for llama-server",
    )
  }
}

const withWindow = (candidate: Candidate, context_window: number): Candidate => {
  const [chosen, ...others] = candidate.models
  return {
    ...candidate,
    models: [{ ...chosen, context_window }, ...others],
    windowFrom: "the server, as it had the model loaded",
  }
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  if (line === "") return "nothing, but it was there"
  return line.length > ANSWER_CHARS ? `${line.slice(0, ANSWER_CHARS).trimEnd()}…` : line
}
