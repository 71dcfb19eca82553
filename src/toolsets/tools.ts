/** Tools of the family `toolset`: putting a set on and off, and keeping the sets. */
import { type Static, Type } from "@sinclair/typebox"
import { WorkdirOn } from "../schema/chat.ts"
import { TOOLSET_LIMITS, type Toolset } from "../schema/toolset.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import { type LeversOf, leversOf } from "./levers.ts"
import { findToolTool, type LoadingParts, loadTool } from "./load-tools.ts"
import { modeMarks } from "./modes.ts"
import type { Toolsets } from "./toolsets.ts"

const GROUP = "toolset"
const ICON = "🧰"

export interface ToolsetToolParts extends LoadingParts {
  toolsets: Toolsets
  levers: LeversOf
  /** Pins a set to a chat, with its working directory; null takes it off. */
  pin(chatId: string, name: string | null): void
  /** Throws KernelError("invalid") for a path that no chat can have. */
  checkWorkdir(value: { workdir: string | null; workdir_on?: string | undefined }): {
    workdir: string | null
    workdir_on: WorkdirOn
  }
}

const closed = { additionalProperties: false }
const Name = Type.String({ minLength: 1 })
const Description = Type.String({
  ...{ minLength: 1, maxLength: TOOLSET_LIMITS.description },
  description: "One line: the kind of work",
})
const Tools = Type.Array(Type.String(), {
  maxItems: TOOLSET_LIMITS.tools,
  description: "Names and groups; empty: the whole registry",
})
const Hint = Type.String({
  maxLength: TOOLSET_LIMITS.hint,
  description: "How to work while it is on; empty: none",
})
const mode = {
  workdir: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: "Working directory for the chat that it is put on in",
    }),
  ),
  workdir_on: Type.Optional(WorkdirOn),
  uncapped: Type.Optional(Type.Boolean({ description: "No limit of requests in a turn" })),
  narrate: Type.Optional(Type.Boolean({ description: "You say what you do, step by step" })),
  no_brevity: Type.Optional(Type.Boolean({ description: "Answers may be long anywhere" })),
}

const WearInput = Type.Object(
  {
    name: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
      description: "null takes the set off",
    }),
    scope: Type.Optional(
      Type.Union([Type.Literal("chat"), Type.Literal("turn")], {
        description: "chat (default): until it is changed; turn: for this turn",
      }),
    ),
  },
  closed,
)
const CreateInput = Type.Object(
  { name: Name, description: Description, tools: Tools, hint: Type.Optional(Hint), ...mode },
  closed,
)
const EditInput = Type.Object(
  {
    name: Name,
    description: Type.Optional(Description),
    tools: Type.Optional(Tools),
    hint: Type.Optional(Hint),
    ...mode,
  },
  closed,
)
const DeleteInput = Type.Object({ name: Name }, closed)

export const toolsetTools = (parts: ToolsetToolParts): Tool[] => [
  wearTool(parts),
  loadTool(parts),
  findToolTool(parts),
  createTool(parts),
  editTool(parts),
  deleteTool(parts),
]

const wearTool = ({ toolsets, levers, pin }: ToolsetToolParts): Tool => ({
  ...{ name: "toolset", group: GROUP, icon: ICON, brief: "{name}" },
  description:
    "Puts on the set of tools that fits the kind of work, or takes it off; it holds from the next step. Say that you did.",
  input: WearInput,
  gates: [],
  traits: { wayOut: true },
  run: async ({ turnId, chatId, identity }, input) => {
    const { name, scope = "chat" } = input as Static<typeof WearInput>
    const turn = leversOf(levers, turnId)
    const set = name === null ? undefined : toolsets.get(name)
    // How a chat of the master's is set up is his to say.
    const forTurn = scope === "turn" || !identity.master
    if (!forTurn) pin(chatId, name)
    turn.wear(set)
    const held = forTurn ? "for this turn" : "in this chat"
    if (!set) return { output: `no set ${held}: the usual tools from the next step` }
    return { output: worn(set, { held, isMode: identity.master }) }
  },
})

function worn(set: Toolset, { held, isMode }: { held: string; isMode: boolean }): string {
  const marks = isMode ? modeMarks(set) : []
  const line = [`${set.name} is on ${held}, from the next step`, ...marks].join(" ")
  return set.hint === null ? line : `${line}\n${set.hint}`
}

const createTool = ({ toolsets, checkWorkdir }: ToolsetToolParts): Tool => ({
  ...{ name: "toolset_create", group: GROUP, icon: ICON, brief: "{name}" },
  description: "Makes a tool set, and with it a mode of working.",
  input: CreateInput,
  gates: ["master_only"],
  traits: {},
  run: async (_context, input) => {
    const draft = input as Static<typeof CreateInput>
    const set = toolsets.create({ ...draft, ...placeOf(draft, checkWorkdir) })
    return { output: `created: ${lineOf(set)}` }
  },
})

const editTool = ({ toolsets, checkWorkdir }: ToolsetToolParts): Tool => ({
  ...{ name: "toolset_edit", group: GROUP, icon: ICON, brief: "{name}" },
  description: "Changes a tool set. What is left out stays; tools replaces the whole list.",
  input: EditInput,
  gates: ["master_only"],
  traits: {},
  run: async (_context, input) => {
    const { name, ...patch } = input as Static<typeof EditInput>
    if (Object.keys(patch).length === 0) throw new ToolFailure("nothing to change was named")
    const set = toolsets.edit(name, { ...patch, ...placeOf(patch, checkWorkdir) })
    return { output: `changed: ${lineOf(set)}` }
  },
})

const deleteTool = ({ toolsets }: ToolsetToolParts): Tool => ({
  ...{ name: "toolset_delete", group: GROUP, icon: "🗑", brief: "{name}" },
  description: "Removes a tool set; chats that have it go back to the usual tools.",
  input: DeleteInput,
  gates: ["master_only"],
  traits: {},
  run: async (_context, input) => {
    const { name } = input as Static<typeof DeleteInput>
    toolsets.remove(name)
    return { output: `removed: ${name}` }
  },
})

/** Modes work without a client too, so a directory is the server's unless it is said. */
function placeOf(
  { workdir, workdir_on }: { workdir?: string | null; workdir_on?: WorkdirOn },
  check: ToolsetToolParts["checkWorkdir"],
) {
  if (workdir === undefined) return {}
  return check({ workdir, workdir_on: workdir_on ?? "server" })
}

function lineOf(set: Toolset): string {
  const tools = set.tools.length === 0 ? "the whole registry" : set.tools.join(", ")
  return [`${set.name}: ${set.description}`, ...modeMarks(set), `— ${tools}`].join(" ")
}
