/** What a server that speaks OpenAI's wire says about its models: which there are, how much each can hold. */
import { isObject, tryParseJson } from "../../lib/json.ts"

export interface ServedModel {
  name: string
  /** Tokens, when the list says so. */
  contextWindow?: number
}

const ANSWER_TIMEOUT_MS = 2000
const ANSWER_CHARS_MAX = 4_000_000

/** How the lists name the window: vLLM, OpenRouter and Together, Groq, Mistral, Anthropic. */
const WINDOW_FIELDS = [
  "max_model_len",
  "context_length",
  "context_window",
  "max_context_length",
  "max_input_tokens",
]

/** The models at `{baseUrl}/models` that can talk; undefined when nothing answers there in that form. */
export async function listModels(
  baseUrl: string,
  apiKey?: string,
): Promise<ServedModel[] | undefined> {
  const list = await getJson(`${baseUrl}/models`, apiKey)
  if (!isObject(list) || !Array.isArray(list.data)) return undefined
  return list.data.flatMap((model) => {
    if (!isObject(model) || typeof model.id !== "string") return []
    if (model.id === "" || /embed|rerank/i.test(model.id)) return []
    const contextWindow = firstNumber(WINDOW_FIELDS.map((field) => model[field]))
    return [{ name: model.id, ...(contextWindow !== undefined && { contextWindow }) }]
  })
}

/**
 * How much the server gives a model that it has loaded: what it was started with, which may be far less than
 * what the model was trained for. Asks llama-server, Ollama and LM Studio each in its own way.
 */
export async function loadedWindow(
  { baseUrl, apiKey }: { baseUrl: string; apiKey?: string },
  model: string,
): Promise<number | undefined> {
  const root = baseUrl.replace(/\/v1\/?$/, "")
  const [props, running, loaded] = await Promise.all([
    getJson(`${root}/props`, apiKey),
    getJson(`${root}/api/ps`, apiKey),
    getJson(`${root}/api/v0/models/${encodeURIComponent(model)}`, apiKey),
  ])
  return firstNumber([llamaServer(props), ollama(running, model), lmStudio(loaded)])
}

const llamaServer = (props: unknown): unknown =>
  isObject(props) && isObject(props.default_generation_settings)
    ? props.default_generation_settings.n_ctx
    : undefined

function ollama(running: unknown, name: string): unknown {
  if (!isObject(running) || !Array.isArray(running.models)) return undefined
  const names = [name, `${name}:latest`]
  const model = running.models.find(
    (entry) => isObject(entry) && names.some((own) => own === entry.name || own === entry.model),
  )
  return isObject(model) ? model.context_length : undefined
}

const lmStudio = (model: unknown): unknown =>
  isObject(model) ? model.loaded_context_length : undefined

const firstNumber = (values: readonly unknown[]): number | undefined =>
  values.find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0)

/** Undefined for everything but a 2xx with JSON in it: the question may not exist on this server. */
async function getJson(url: string, apiKey?: string): Promise<unknown> {
  try {
    const response = await fetch(url, {
      redirect: "manual",
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    if (!response.ok) return undefined
    const text = await response.text()
    return text.length > ANSWER_CHARS_MAX ? undefined : tryParseJson(text)?.value
  } catch {
    // Nobody there, or not in time.
    return undefined
  }
}
