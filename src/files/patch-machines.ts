/** Which machine a call of `apply_patch` means, and its files. */
import type { WorkdirOn } from "../schema/chat.ts"
import type { ToolContext } from "../tools/tool.ts"
import type { BeforeWrite } from "./checkpoints.ts"
import type { PatchMachine } from "./patch/tool.ts"
import type { SeenFiles } from "./seen-files.ts"
import { treeFiles } from "./tree-files.ts"
import type { HandsOf } from "./which-hands.ts"

export interface PatchMachinesOptions {
  handsOf: HandsOf
  beforeWrite: BeforeWrite
  seen: SeenFiles
}

export const patchMachines =
  ({ handsOf, ...rest }: PatchMachinesOptions) =>
  (context: ToolContext, named: WorkdirOn | undefined): PatchMachine => {
    const { chatId, turnId } = context
    const hands = handsOf(context, named)
    return { name: hands.name, files: treeFiles({ hands, chatId, turnId, ...rest }) }
  }
