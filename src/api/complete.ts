/** The route of one-shot answers. */
import { Elysia } from "elysia"
import { Complete, Completion } from "../schema/complete.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export function completeRoutes({ complete }: Pick<ApiParts, "complete">) {
  return new Elysia().post(
    "/v1/complete",
    ({ body, request, server }) => {
      // A model may think for minutes without a byte.
      server?.timeout(request, 0)
      return complete(body, request.signal)
    },
    {
      body: Complete,
      detail: describe({
        tag: "kernel",
        summary: "Ask a model once",
        example: { prompt: "Say hello in three languages." },
        description:
          "No turn, no history, no tools. A rate limit, an overload or a broken network answers 503; a refusal " +
          "on substance answers 400. The text of the error is the provider's.",
        answers: { 200: json(Completion, "The answer") },
        problems: ["invalid", "too_large", "unprocessable", "unavailable"],
      }),
    },
  )
}
