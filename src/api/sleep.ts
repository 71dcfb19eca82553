/** Routes of sleep: whether the kernel sleeps, and the journal of its nights. */
import { Elysia } from "elysia"
import { SleepRun, SleepRuns, SleepRunsQuery, SleepStatus, SleepUndone } from "../schema/sleep.ts"
import type { Sleep } from "../sleep/sleep.ts"
import { describe, json, takesQuery } from "./describe.ts"

const PAGE = 20

export type SleepRoom = Pick<Sleep, "status" | "start" | "wake" | "runs" | "run" | "undo">

export function sleepRoutes(sleep: SleepRoom) {
  return new Elysia({ prefix: "/v1/sleep" })
    .get("", () => sleep.status(), STATUS)
    .post(
      "",
      ({ status }) => {
        sleep.start()
        return status(202, sleep.status())
      },
      START,
    )
    .post(
      "/wake",
      async () => {
        await sleep.wake()
        return sleep.status()
      },
      WAKE,
    )
    .get(
      "/runs",
      ({ query: { limit = PAGE, before } }) => ({ runs: sleep.runs({ limit, before }) }),
      RUNS,
    )
    .get("/runs/:id", ({ params }) => sleep.run(idOf(params.id)), RUN)
    .post("/runs/:id/undo", ({ params }) => sleep.undo(idOf(params.id)), UNDO)
}

/** Whatever is no number is the id of nothing. */
const idOf = (text: string): number => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0)

const STATUS = {
  detail: describe({
    tag: "memories",
    summary: "See whether the kernel sleeps",
    answers: { 200: json(SleepStatus, "Its state, and when sleep is due next") },
  }),
}

const START = {
  detail: describe({
    tag: "memories",
    summary: "Fall asleep now",
    description:
      "Running turns end first; new ones wait until the kernel wakes. Refused when there is nothing to tidy.",
    answers: { 202: json(SleepStatus, "It falls asleep") },
    problems: ["conflict"],
  }),
}

const WAKE = {
  detail: describe({
    tag: "memories",
    summary: "Wake the kernel",
    description:
      "The phase that is not finished is dropped, those before it stay. The next sleep is due when it was.",
    answers: { 200: json(SleepStatus, "It is awake") },
  }),
}

const RUNS = {
  ...takesQuery(SleepRunsQuery),
  detail: describe({
    tag: "memories",
    summary: "Read the journal of nights",
    answers: { 200: json(SleepRuns, "One page, newest first, with plans and dry runs") },
    problems: ["invalid"],
  }),
}

const RUN = {
  detail: describe({
    tag: "memories",
    summary: "Read one night",
    answers: { 200: json(SleepRun, "The night") },
    problems: ["not_found"],
  }),
}

const UNDO = {
  detail: describe({
    tag: "memories",
    summary: "Undo a night",
    description:
      "Every record that it touched is as it was before. Records that were changed since are left alone and named.",
    answers: { 200: json(SleepUndone, "What was taken back") },
    problems: ["conflict", "not_found"],
  }),
}
