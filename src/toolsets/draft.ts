/** What a tool set is made of and changed by. */
import type { Toolset } from "../schema/toolset.ts"

type Content = Omit<Toolset, "tools_error">

/** `workdir` is absolute: the caller has checked it. */
export type ToolsetDraft = Pick<Content, "name" | "description" | "tools"> & Partial<Content>

/** What is left out stays; `tools` replaces the list whole, an empty `hint` takes it away. */
export type ToolsetPatch = Partial<Omit<Content, "name">>
