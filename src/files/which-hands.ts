/** Which machine a call of a file tool means. */
import { Type } from "@sinclair/typebox"
import type { WorkdirOn } from "../schema/chat.ts"
import { type ToolContext, ToolFailure } from "../tools/tool.ts"
import { clientHands } from "./client-hands.ts"
import type { Hands } from "./hands.ts"

/** The parameter `on` of every file tool. */
export const On = Type.Optional(
  Type.Union([Type.Literal("client"), Type.Literal("server")], {
    description: "The machine; the working directory's by default",
  }),
)

/** @throws ToolFailure when this turn may not act on that machine */
export type HandsOf = (context: ToolContext, on: WorkdirOn | undefined) => Hands

/** The working machine's files, for one call. */
export type ServerHands = (call: { cwd: string | undefined; signal: AbortSignal }) => Hands

const NOT_TRUSTED =
  "only a trusted turn acts on the client's machine; the master can ask for it from his own client, or pass on: server"
const NO_CLIENT =
  "the client of this turn offers no operations on its machine; the master can ask from one that does, such as eva-kernel chat, or pass on: server"

/** The machine of the working directory; without one the client's, or the server's for a turn without a client. */
export function machineOf({ workdir, identity }: ToolContext, named?: WorkdirOn): WorkdirOn {
  const fallback = identity.clientOps ? "client" : "server"
  return named ?? (workdir.path === undefined ? fallback : workdir.on)
}

export const handsOf =
  (server: ServerHands): HandsOf =>
  (context, named) => {
    const { workdir, identity, signal } = context
    const on = machineOf(context, named)
    const cwd = workdir.on === on ? workdir.path : undefined
    if (on === "server") return server({ cwd, signal })
    // A sub-agent acts by its lead's permission, which its turn carries as client operations.
    if (!identity.trusted && !identity.agent) throw new ToolFailure(NOT_TRUSTED)
    if (!identity.clientOps) throw new ToolFailure(NO_CLIENT)
    return clientHands(context, cwd)
  }
