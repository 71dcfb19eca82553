/** `tool_load` and `tool_find`: hidden tools come into sight for the rest of the turn. No right comes with them. */
import { type Static, Type } from "@sinclair/typebox"
import { firstSentence, nearest } from "../lib/text.ts"
import type { Offload } from "../tools/offload.ts"
import type { Registry, RegistryEntry } from "../tools/registry.ts"
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts"
import findTool from "./find-tool.txt" with { type: "text" }
import { type LeversOf, leversOf, type TurnLevers } from "./levers.ts"
import { searchTools } from "./search-tools.ts"

const closed = { additionalProperties: false }
const LoadInput = Type.Object({ name: Type.String({ minLength: 1 }) }, closed)
const FindInput = Type.Object(
  {
    need: Type.String({
      ...{ minLength: 1, maxLength: 1000 },
      description: "What the tool should do",
    }),
  },
  closed,
)

const FOUND_MAX = 5
const ANSWER_MAX_TOKENS = 200
const PURPOSE_MAX_CHARS = 200

export interface LoadingParts {
  registry: Pick<Registry, "get" | "list">
  levers: LeversOf
  offload: Offload
  /** Reads the list of hidden tools when words alone find nothing. */
  fastModel: string
}

export const loadTool = ({ registry, levers }: LoadingParts): Tool => ({
  ...{ name: "tool_load", group: "toolset", icon: "🧰", brief: "{name}" },
  description:
    "Brings a hidden tool, or a whole family by its name, into sight for this turn, from the next step on.",
  input: LoadInput,
  gates: [],
  traits: { wayOut: true },
  run: async ({ turnId }, input) => {
    const { name } = input as Static<typeof LoadInput>
    const turn = leversOf(levers, turnId)
    const wanted = toolsNamed(name, registry)
    const reserved = wanted.filter((tool) => turn.reach(tool).state === "reserved")
    if (reserved.length > 0) return { output: open(turn, reserved) }
    const offered = wanted.filter((tool) => turn.reach(tool).state === "visible").map(nameOf)
    if (offered.length > 0) return { output: `already offered: ${offered.join(", ")}` }
    throw new ToolFailure(refusal(name, wanted, { turn, registry }))
  },
})

export const findToolTool = (parts: LoadingParts): Tool => ({
  ...{ name: "tool_find", group: "toolset", icon: "🧰", brief: "{need}" },
  description: "Finds hidden tools by what they should do, and loads them as tool_load does.",
  input: FindInput,
  gates: [],
  traits: { wayOut: true },
  run: async (context, input) => {
    const { need } = input as Static<typeof FindInput>
    const turn = leversOf(parts.levers, context.turnId)
    const within = parts.registry
      .list()
      .filter(({ tool }) => ["visible", "reserved"].includes(turn.reach(tool).state))
    const isHidden = ({ tool }: RegistryEntry) => turn.reach(tool).state === "reserved"
    const byWords = searchTools(need, within)
    const found =
      byWords.length > 0
        ? byWords
        : await askModel(parts, context, { need, within: within.filter(isHidden) })
    if (found.length === 0) return { output: NOTHING, uneventful: true }
    const hidden = found.filter(isHidden).map(({ tool }) => tool)
    const offered = found.filter((entry) => !isHidden(entry)).map(({ tool }) => tool.name)
    const said = [
      hidden.length > 0 && open(turn, hidden),
      offered.length > 0 && `already offered: ${offered.join(", ")}`,
    ]
    return { output: said.filter(Boolean).join("\n") }
  },
})

const NOTHING = "No tool for this. Say so, or say it in other words."

const nameOf = ({ name }: Tool): string => name

/** The tool of this name, or all tools of the family of this name. */
function toolsNamed(name: string, registry: LoadingParts["registry"]): Tool[] {
  const family = registry
    .list()
    .map(({ tool }) => tool)
    .filter(({ group }) => group === name)
  const tool = registry.get(name)
  // A list of names and groups that holds the name of a family opens all of it.
  return family.length > 0 ? family : tool ? [tool] : []
}

function open(turn: TurnLevers, tools: readonly Tool[]): string {
  turn.open(tools.map(nameOf))
  const lines = tools.map(({ name, description }) => `- ${name}: ${purposeOf(description)}`)
  return ["loaded for this turn, offered from the next step:", ...lines].join("\n")
}

const purposeOf = (description: string): string => firstSentence(description, PURPOSE_MAX_CHARS)

function refusal(
  name: string,
  wanted: readonly Tool[],
  { turn, registry }: { turn: TurnLevers; registry: LoadingParts["registry"] },
): string {
  for (const tool of wanted) {
    const state = turn.reach(tool)
    if (state.state === "forbidden") return `${name} is closed in this turn: ${state.reason}.`
  }
  const known = registry
    .list()
    .filter(({ tool }) => ["visible", "reserved"].includes(turn.reach(tool).state))
    .flatMap(({ tool }) => [tool.name, tool.group])
  const guess = nearest(name, known)
  return `There is no hidden tool or family ${JSON.stringify(name)}.${guess ? ` Did you mean ${guess}?` : " tool_find looks for one by what it should do."}`
}

/** What a fast model takes for fitting, where words alone found nothing: another language, another word. */
async function askModel(
  { offload, fastModel }: LoadingParts,
  context: ToolContext,
  { need, within }: { need: string; within: readonly RegistryEntry[] },
): Promise<RegistryEntry[]> {
  // It costs money: not for guests.
  if (!context.identity.privileged || within.length === 0) return []
  const lines = within.map(({ tool }) => `${tool.name}: ${purposeOf(tool.description)}`)
  const answer = await offload(context, {
    model: fastModel,
    system: findTool.trim(),
    prompt: `Need: ${need}\n\nTools:\n${lines.join("\n")}`,
    source: "tool_find",
    maxTokens: ANSWER_MAX_TOKENS,
  })
  // Only names of the list count: a model may invent others.
  const named = answer.match(/[A-Za-z0-9_-]+/g) ?? []
  return named
    .flatMap((name) => within.find(({ tool }) => tool.name === name) ?? [])
    .filter((entry, index, all) => all.indexOf(entry) === index)
    .slice(0, FOUND_MAX)
}
