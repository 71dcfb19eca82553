/** Tools of the family `skill`: reading one, and keeping them in order. */
import { type Static, Type } from "@sinclair/typebox"
import { SKILL_LIMITS, SkillVisibility } from "../schema/skill.ts"
import type { Offload } from "../tools/offload.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import runSkill from "./run-skill.txt" with { type: "text" }
import type { Skills } from "./skills.ts"

const GROUP = "skill"
const INPUT_MAX_CHARS = 200_000

const closed = { additionalProperties: false }
const Name = Type.String({ minLength: 1 })
const Description = Type.String({
  ...{ minLength: 1, maxLength: SKILL_LIMITS.description },
  description: "One line: when to use it",
})
const Body = Type.String({
  minLength: 1,
  description: `The whole instruction, up to ${SKILL_LIMITS.body} characters`,
})
const Model = Type.Union([Type.String(), Type.Null()], {
  description: "Carries it out by itself, seeing no chat; null: you follow it",
})

const UseInput = Type.Object(
  {
    name: Name,
    input: Type.Optional(
      Type.String({
        maxLength: INPUT_MAX_CHARS,
        description: "What to work on, for a skill with a model of its own",
      }),
    ),
  },
  closed,
)
const CreateInput = Type.Object(
  {
    name: Name,
    description: Description,
    body: Body,
    model: Type.Optional(Model),
    visibility: Type.Optional(SkillVisibility),
  },
  closed,
)
const EditInput = Type.Object(
  {
    name: Name,
    description: Type.Optional(Description),
    body: Type.Optional(Body),
    model: Type.Optional(Model),
    visibility: Type.Optional(SkillVisibility),
  },
  closed,
)
const DeleteInput = Type.Object({ name: Name }, closed)

export const skillTools = (parts: { skills: Skills; offload: Offload }): Tool[] => [
  useTool(parts),
  createTool(parts.skills),
  editTool(parts.skills),
  deleteTool(parts.skills),
]

const useTool = ({ skills, offload }: { skills: Skills; offload: Offload }): Tool => ({
  ...{ name: "skill", group: GROUP, icon: "📘", brief: "{name}" },
  description:
    "Reads a skill: follow what it says. One with a model of its own answers with its result.",
  input: UseInput,
  gates: [],
  traits: { uncapped: true, wayOut: true, concurrent: true },
  run: async (context, args) => {
    const { name, input } = args as Static<typeof UseInput>
    const { body, model } = skills.read(name, context.identity)
    if (model !== null) {
      const prompt = input === undefined ? body : `${body}\n\n== input\n${input}`
      const question = { model, system: runSkill.trim(), prompt, source: "skill" }
      return { output: await offload(context, question) }
    }
    if (input === undefined) return { output: body }
    throw new ToolFailure(`${name} has no model of its own: call it without input and follow it`)
  },
})

const createTool = (skills: Skills): Tool => ({
  ...{ name: "skill_create", group: GROUP, icon: "📘", brief: "{name}" },
  description: "Keeps an instruction for a kind of task that will come again.",
  input: CreateInput,
  gates: ["master_only"],
  traits: {},
  run: async (_context, input) => {
    const { name, visibility } = skills.create(input as Static<typeof CreateInput>)
    return { output: `created: ${name} (${visibility}); listed from the next turn on` }
  },
})

const editTool = (skills: Skills): Tool => ({
  ...{ name: "skill_edit", group: GROUP, icon: "📘", brief: "{name}" },
  description: "Changes a skill; what is left out stays.",
  input: EditInput,
  gates: ["master_only"],
  traits: {},
  run: async (_context, input) => {
    const { name, ...patch } = input as Static<typeof EditInput>
    if (Object.keys(patch).length === 0) throw new ToolFailure("nothing to change was named")
    return { output: `changed: ${skills.edit(name, patch).name}` }
  },
})

const deleteTool = (skills: Skills): Tool => ({
  ...{ name: "skill_delete", group: GROUP, icon: "🗑", brief: "{name}" },
  description: "Removes a skill for good.",
  input: DeleteInput,
  gates: ["master_only"],
  traits: {},
  run: async (_context, input) => {
    const { name } = input as Static<typeof DeleteInput>
    skills.remove(name)
    return { output: `removed: ${name}` }
  },
})
