/** Whether a model may be chosen, told before anything is sent. */
import { nearest } from "../../lib/text.ts"
import { ClientError } from "./client-error.ts"

/** Of the models that there are, so many stand in a refusal. */
const NAMED_MODELS_MAX = 8

/** Throws ClientError naming the nearest model, or some of those that there are. */
export function checkModel(model: string, known: readonly string[]): void {
  if (known.includes(model)) return
  const near = nearest(model, known)
  const some = known.slice(0, NAMED_MODELS_MAX).join(", ")
  const advice = near ? `did you mean ${near}?` : `there are ${some}`
  throw new ClientError("usage", `no model ${model}: ${advice}`)
}
