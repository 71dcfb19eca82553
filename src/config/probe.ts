/** Asks a local model server whether it is there and what it serves. */
import { isObject, tryParseJson } from "../lib/json.ts"

/** The first model served at this base URL that can talk; undefined when nothing answers in time. */
export type Probe = (baseUrl: string) => Promise<string | undefined>

const PROBE_TIMEOUT_MS = 150
const ANSWER_CHARS_MAX = 1_000_000

/** Reads `GET {baseUrl}/models`, the list of the OpenAI API that Ollama and llama-server both give. */
export const probeModelServer: Probe = async (baseUrl) => {
  try {
    const response = await fetch(`${baseUrl}/models`, {
      redirect: "manual",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    })
    const text = response.ok ? await response.text() : ""
    return text.length > ANSWER_CHARS_MAX ? undefined : firstModel(text)
  } catch {
    // Nobody there, or too slow to be a server on this machine.
    return undefined
  }
}

function firstModel(text: string): string | undefined {
  const list = tryParseJson(text)?.value
  if (!isObject(list) || !Array.isArray(list.data)) return undefined
  return list.data
    .map((model) => (isObject(model) && typeof model.id === "string" ? model.id : ""))
    .find((id) => id !== "" && !/embed|rerank/i.test(id))
}
