/** Routes of statistics: where money and tokens went. */
import { Elysia } from "elysia"
import { Stats, StatsQuery, TriageReport } from "../schema/stats.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export function statsRoutes({ spend, zone }: Pick<ApiParts, "spend" | "zone">) {
  return new Elysia({ prefix: "/v1/stats" })
    .get("", ({ query }) => spend.stats({ zone: query.tz ?? zone.name() }), {
      query: StatsQuery,
      detail: describe({
        tag: "kernel",
        summary: "Spend of this calendar day, week and month",
        answers: { 200: json(Stats, "By model and by source, with limits and other counts") },
        problems: ["invalid"],
      }),
    })
    .post(
      "/triage",
      ({ body, status }) => {
        spend.triage(body)
        return status(204, undefined)
      },
      {
        body: TriageReport,
        detail: describe({
          tag: "kernel",
          summary: "Report what a surface made of one batch of messages",
          example: { engaged: 3, responded: 1 },
          answers: { 204: { description: "Counted" } },
          problems: ["unprocessable"],
        }),
      },
    )
}
