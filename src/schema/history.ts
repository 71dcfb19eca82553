/** How the history of a chat is asked for and cut. */
import { type Static, Type } from "@sinclair/typebox"

export const HistoryQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  before: Type.Optional(Type.String({ description: "The page ends right before this id" })),
  around: Type.Optional(Type.String({ description: "The page holds this id in its middle" })),
})
export type HistoryQuery = Static<typeof HistoryQuery>

export const Rewound = Type.Object({
  deleted: Type.Array(Type.String(), { description: "Ids of the messages, oldest first" }),
})
export type Rewound = Static<typeof Rewound>
