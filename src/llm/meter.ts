/** Settles what each attempt consumed: prices the provider's count, or estimates what it kept silent about. */
import { emptyUsage, type Usage } from "../schema/usage.ts"
import type { ModelEntry } from "./models.ts"
import { priced } from "./price.ts"
import type { ModelRequest, ProviderEvent } from "./provider.ts"
import type { TokenEstimator } from "./tokens.ts"

export interface Meter {
  /** The event on its way, priced when it is the usage; before a stop without usage comes an estimate. */
  pass(event: ProviderEvent): Generator<ProviderEvent>
  /** The attempt is over: an estimate when it said something and was not counted. */
  close(): Generator<ProviderEvent>
}

export function createMeter(trip: {
  entry: ModelEntry
  request: ModelRequest
  tokens: TokenEstimator
}): Meter {
  const { entry, request, tokens } = trip
  let counted = false
  let said = ""
  let thought = ""

  const reset = (): void => {
    counted = false
    said = ""
    thought = ""
  }
  const estimate = (): Usage => {
    const reasoning = tokens.text(entry.name, thought)
    return {
      ...emptyUsage(),
      prompt_tokens: tokens.request(entry.name, request),
      completion_tokens: reasoning + tokens.text(entry.name, said),
      reasoning_tokens: reasoning,
      estimated: true,
    }
  }
  const settled = (usage: Usage): ProviderEvent => {
    counted = true
    return { type: "usage", usage: priced(usage, entry.prices) }
  }

  function* pass(event: ProviderEvent): Generator<ProviderEvent> {
    switch (event.type) {
      case "text":
        said += event.text
        break
      case "tool_call":
        said += event.arguments
        break
      case "thinking":
        thought += event.text
        break
      case "usage":
        // Some servers send zeros instead of nothing.
        if (event.usage.prompt_tokens + event.usage.completion_tokens === 0) return
        tokens.calibrate(entry.name, request, event.usage)
        yield settled(event.usage)
        return
      case "stop":
        if (!counted) yield settled(estimate())
    }
    yield event
  }
  function* close(): Generator<ProviderEvent> {
    if (!counted && said + thought !== "") yield settled(estimate())
    reset()
  }
  return { pass, close }
}
