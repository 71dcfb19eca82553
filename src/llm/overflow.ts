/**
 * How upstreams say that a request does not fit the context window. There is no standard: each pattern
 * stands beside the text that it was made for, and the test checks one against the other.
 */

export const OVERFLOW_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "model_context_window_exceeded",
  "exceed_context_size_error",
  "request_too_large",
  "string_above_max_length",
])

export const OVERFLOW_WORDINGS: readonly { upstream: string; pattern: RegExp; sample: string }[] = [
  {
    upstream: "Anthropic",
    pattern: /prompt is too long/i,
    sample: "prompt is too long: 213462 tokens > 200000 maximum",
  },
  {
    upstream: "Anthropic, input and max_tokens together",
    pattern: /exceed context limit/i,
    sample: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
  },
  {
    upstream: "Amazon Bedrock",
    pattern: /input is too long/i,
    sample: "Input is too long for requested model.",
  },
  {
    upstream: "OpenAI Chat Completions, OpenRouter, vLLM, DeepSeek",
    pattern: /maximum context length/i,
    sample:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens.",
  },
  {
    upstream: "OpenAI Responses",
    pattern: /exceeds the context window/i,
    sample:
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
  {
    upstream: "Google Gemini",
    pattern: /input token count.*exceeds the maximum/i,
    sample:
      "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
  },
  {
    upstream: "xAI",
    pattern: /maximum prompt length is/i,
    sample: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  },
  {
    upstream: "Groq",
    pattern: /reduce the length of the messages/i,
    sample: "Please reduce the length of the messages or completion.",
  },
  {
    upstream: "Mistral",
    pattern: /too large for model with \d+ maximum context/i,
    sample: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
  },
  {
    upstream: "Moonshot",
    pattern: /exceeded model token limit/i,
    sample: "Invalid request: Your request exceeded model token limit: 262144",
  },
  {
    upstream: "MiniMax",
    pattern: /context window exceeds limit/i,
    sample: "invalid params, context window exceeds limit (2013)",
  },
  {
    upstream: "Alibaba DashScope",
    pattern: /range of input length should be/i,
    sample:
      "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
  },
  {
    upstream: "Together, HuggingFace TGI",
    pattern: /`?inputs`? tokens.*must be (?:<=|less than) \d+/i,
    sample: "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
  },
  {
    upstream: "llama.cpp server",
    pattern: /exceeds? the available context size/i,
    sample:
      "request (33000 tokens) exceeds the available context size (32768 tokens), try increasing it",
  },
  {
    upstream: "LM Studio",
    pattern: /greater than the context length/i,
    sample:
      "The number of tokens to keep from the initial prompt is greater than the context length.",
  },
  {
    upstream: "Ollama",
    pattern: /prompt too long; exceeded|input length exceeds (?:the )?context length/i,
    sample: "prompt too long; exceeded max context length by 4096 tokens",
  },
  {
    upstream: "GitHub Copilot",
    pattern: /token count.*exceeds the limit of \d+/i,
    sample: "prompt token count of 140000 exceeds the limit of 128000",
  },
  {
    upstream: "Cerebras, LiteLLM and other gateways",
    pattern: /context(?:[ _]window|[ _]length|)[ _](?:limit )?exceeded/i,
    sample: "litellm.ContextWindowExceededError: context window exceeded for this request",
  },
]

/** Whether an error with these codes, types and words says that the request is too big for the model. */
export const isOverflow = (kinds: readonly string[], message: string): boolean =>
  kinds.some((kind) => OVERFLOW_CODES.has(kind)) ||
  OVERFLOW_WORDINGS.some(({ pattern }) => pattern.test(message))
