/**
 * Optional wire features that an upstream turns out not to know. The first refusal teaches; from then on the
 * requests to that model leave the feature out.
 */
import type { ModelRequest, ProviderFailure } from "./provider.ts"

/** The features that a request can do without, by the name that refusals call them. */
const OPTIONAL_FEATURES = [
  "response_format",
  "json_schema",
  "output_config",
  "cache_control",
  "prompt_cache_key",
  "reasoning",
  "reasoning_effort",
  "thinking",
  "enable_thinking",
  "parallel_tool_calls",
  "stream_options",
  "temperature",
  "modalities",
] as const
type OptionalFeature = (typeof OPTIONAL_FEATURES)[number]

/**
 * OpenAI: "Unsupported parameter: 'temperature' is not supported with this model", "Unrecognized request
 * argument supplied: …"; Anthropic: "cache_control: Extra inputs are not permitted". The word "invalid" is no
 * sign: it is said of values ("Invalid signature in thinking block").
 */
const NOT_KNOWN = /unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted/i

/** The feature that the failure is about, or undefined. The wire's own word wins over its message. */
export function unsupportedFeature(failure: ProviderFailure): string | undefined {
  if (failure.unsupported !== undefined) return failure.unsupported
  const isRefusal = failure.class === "fatal" || failure.class === "model"
  if (!isRefusal || ![400, 422].includes(failure.status ?? 0)) return undefined
  if (!NOT_KNOWN.test(failure.message)) return undefined
  return OPTIONAL_FEATURES.toSorted((a, b) => b.length - a.length).find((feature) =>
    new RegExp(`\\b${feature}\\b`, "i").test(failure.message),
  )
}

export interface UnsupportedMemory {
  /** Notes the refusal; the request without the feature, or undefined when there is nothing to leave out. */
  simplified(
    model: string,
    request: ModelRequest,
    failure: ProviderFailure,
  ): ModelRequest | undefined
  /** The request without all that the model is known to refuse. */
  fitting(model: string, request: ModelRequest): ModelRequest
}

export function createUnsupportedMemory(): UnsupportedMemory {
  const refused = new Map<string, Set<string>>()

  const fitting: UnsupportedMemory["fitting"] = (model, request) => {
    const omit = refused.get(model)
    return omit ? without(request, omit) : request
  }
  return {
    fitting,
    simplified: (model, request, failure) => {
      const feature = unsupportedFeature(failure)
      if (feature === undefined || refused.get(model)?.has(feature)) return undefined
      refused.set(model, (refused.get(model) ?? new Set()).add(feature))
      return fitting(model, request)
    },
  }
}

/** The body of a wire without the fields that this model's upstream refused; the body itself is changed. */
export function withoutRefused<T extends object>(body: T, omit: ModelRequest["omit"]): T {
  for (const field of omit ?? []) Reflect.deleteProperty(body, field)
  return body
}

/** Leaves out here what a request itself can be without; the wires do so for the rest. */
function without(request: ModelRequest, omit: ReadonlySet<string>): ModelRequest {
  const lacks = (...features: OptionalFeature[]) => features.some((feature) => omit.has(feature))
  const { answerSchema, cacheTtl, temperature, imageOutput, sessionKey, ...rest } = request
  return {
    ...rest,
    omit: new Set(omit),
    ...(answerSchema &&
      !lacks("response_format", "json_schema", "output_config") && { answerSchema }),
    ...(cacheTtl && !lacks("cache_control") && { cacheTtl }),
    ...(temperature !== undefined && !lacks("temperature") && { temperature }),
    ...(imageOutput !== undefined && !lacks("modalities") && { imageOutput }),
    ...(sessionKey !== undefined && !lacks("prompt_cache_key") && { sessionKey }),
  }
}
