/** The files that a first `eva-kernel init` writes: few settings, each with the sentence that it needs. */
import type { Tree } from "../../config/merge.ts"
import type { Candidate } from "./candidate.ts"

const SENTENCES: Record<string, string> = {
  provider: "The wire that the upstream speaks.",
  wire: "Its newer API: these models need it for tools.",
  base_url: "Where it answers.",
  prompt_cache: "How long the provider keeps what prompts have in common; that part costs a tenth.",
  reasoning: "How hard the model thinks: off, low, mid or high.",
  multimodal: "It sees pictures.",
  price_in: "USD for a million tokens.",
  max_output: "Tokens of its longest answer.",
}

/** Section `llm` as it goes into the file; the chosen model comes first and plays every role. */
export function llmSection({ llm, models }: Candidate): Tree {
  const [chosen] = models
  return { ...llm, model: { general: chosen.name }, models: [chosen] }
}

export function configText(candidate: Candidate, database: string): string {
  const [model] = candidate.models
  return `# Configuration of eva-kernel, written by eva-kernel init. It is yours: change what you like.
# Running init again keeps what is here. Keys and the token are in secrets.yaml beside this file.
# All settings with their defaults: eva-kernel config example. After a change: eva-kernel config check

server:
  # Reached from this machine alone; secrets.yaml holds the token that callers present.
  listen: "127.0.0.1:8090"

db:
  # Everything that is said and done is in this one file.
  path: ${scalar(database)}

# ${candidate.name}: ${candidate.why}.
llm:
${settings(candidate.llm, "  ").join("\n")}
  model:
    # Ordinary turns. fastest, smartest and fallback may name others of the list below.
    general: ${scalar(model.name)}
  models:
    - name: ${scalar(model.name)}
${modelSettings(candidate).join("\n")}
# What most people set next; remove the # to do so.
#persona:
  # Who the agent is, in your words.
  #file: "persona.md"
#master:
  #timezone: "Europe/Berlin"
#budget:
  # USD; a call that would pass it is refused.
  #day: 5
`
}

function modelSettings({ llm, models: [model], windowFrom }: Candidate): string[] {
  if (llm.provider === "mock") return [""]
  const { name: _name, context_window: window, ...others } = model
  const lines = settings(others, "      ")
  const known =
    window === undefined
      ? [
          "      # Tokens of prompt and answer together. Nobody said how many; set it if you know.",
          "      #context_window: 128000",
        ]
      : [
          `      # Tokens of prompt and answer together, from ${windowFrom}.`,
          `      context_window: ${scalar(window)}`,
        ]
  return [...lines, ...known, ""]
}

const settings = (tree: Tree, indent: string): string[] =>
  Object.entries(tree).flatMap(([key, value]) => {
    const sentence = SENTENCES[key]
    return [...(sentence ? [`${indent}# ${sentence}`] : []), `${indent}${key}: ${scalar(value)}`]
  })

/** JSON is YAML, and quotes whatever needs it. */
const scalar = (value: unknown): string => JSON.stringify(value)

export const SECRETS_HEAD = `# Secrets of eva-kernel, read after config.yaml. Nobody but you may read this file (mode 0600).
# server.token is what callers present: authorization: Bearer TOKEN
`
