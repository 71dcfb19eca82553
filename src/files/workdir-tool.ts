/** The tool `workdir`: where relative paths count from and commands run. */
import { type Static, Type } from "@sinclair/typebox"
import { WorkdirOn } from "../schema/chat.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"

const Input = Type.Object(
  {
    path: Type.Union([Type.String(), Type.Null()], {
      description: "Absolute; null or empty: none",
    }),
    on: Type.Optional(WorkdirOn),
  },
  { additionalProperties: false },
)

/** Stores the chat's directory, checked, and gives it as it is now. Throws KernelError("invalid"). */
export type SetWorkdir = (
  chatId: string,
  place: { workdir: string | null; workdir_on: string },
) => { workdir: string | null; workdir_on: WorkdirOn }

export const workdirTool = (setWorkdir: SetWorkdir): Tool => ({
  ...{ name: "workdir", group: "client", icon: "📂", brief: "{path}" },
  description:
    "Sets the working directory of this chat: relative paths count from it and commands run in it, from the next call on.",
  input: Input,
  gates: ["master_only", "not_public"],
  traits: {},
  run: async ({ chatId, identity, workdir: present }, input) => {
    const { path, on } = input as Static<typeof Input>
    const fallback = identity.clientOps ? "client" : "server"
    const machine = on ?? (present.path === undefined ? fallback : present.on)
    if (machine === "client" && path && !identity.clientOps) {
      throw new ToolFailure(
        "the client of this turn offers no operations on its machine; pass on: server, or the master can ask from a client that does",
      )
    }
    const { workdir, workdir_on } = setWorkdir(chatId, { workdir: path, workdir_on: machine })
    return {
      output: workdir === null ? "no working directory any more" : `${workdir} (${workdir_on})`,
    }
  },
})
