/** The summary that stands for the folded part of a chat's history. */
import { type Static, Type } from "@sinclair/typebox"

export const COMPACT_PROFILES = ["low", "med", "high"] as const
export const CompactProfile = Type.Union(
  COMPACT_PROFILES.map((profile) => Type.Literal(profile)),
  {
    description: "How soon history is folded: low as for cron jobs, med as for surfaces, high last",
  },
)
export type CompactProfile = (typeof COMPACT_PROFILES)[number]

/** What the master said in the folded part, word for word. */
export const VerbatimLine = Type.Object({
  at: Type.String({ format: "date-time" }),
  text: Type.String(),
})
export type VerbatimLine = Static<typeof VerbatimLine>

export const SUMMARY_MAX_CHARS = 100_000

export const Summary = Type.Object({
  text: Type.Union([Type.String(), Type.Null()], { description: "null: nothing is folded" }),
  upto: Type.Union([Type.String(), Type.Null()], { description: "The newest folded message" }),
  verbatim: Type.Array(VerbatimLine, {
    description: "The owner's newest words from the folded part, oldest first",
  }),
})
export type Summary = Static<typeof Summary>

export const SetSummary = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: SUMMARY_MAX_CHARS }) },
  { additionalProperties: false },
)
export type SetSummary = Static<typeof SetSummary>

export const SetCompactProfile = Type.Object(
  { profile: Type.Union([CompactProfile, Type.Null()], { description: "null: automatic" }) },
  { additionalProperties: false },
)
export type SetCompactProfile = Static<typeof SetCompactProfile>

export const Folded = Type.Object({
  folded: Type.Boolean(),
  messages: Type.Integer({ description: "How many were folded" }),
  freed_tokens: Type.Integer({ description: "By estimate" }),
  reason: Type.Optional(Type.String({ description: "Why nothing was folded" })),
})
export type Folded = Static<typeof Folded>
