/** How many turns a cancel met. */
import { type Static, Type } from "@sinclair/typebox"

export const Cancelled = Type.Object({ cancelled: Type.Integer({ minimum: 1 }) })
export type Cancelled = Static<typeof Cancelled>
