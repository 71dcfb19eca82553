/** Whom the kernel shall talk to: found by itself, or asked for. */
import { HOSTED_UPSTREAMS, type HostedUpstream } from "../../config/default-upstreams.ts"
import { type Candidate, hostedCandidate, MOCK, serverCandidate, withModel } from "./candidate.ts"
import { listModels } from "./model-server.ts"
import type { Option, Questions } from "./questions.ts"

type Way = { found: Candidate } | { hosted: HostedUpstream } | "server" | "mock"

/** Asks for the provider, and for the model where a server has several. */
export async function chooseCandidate(
  found: readonly Candidate[],
  questions: Questions,
): Promise<Candidate> {
  const way = await questions.choose("Which model shall answer?", waysOf(found))
  if (way === "mock") return MOCK
  if (way === "server") return askServer(questions)
  if ("found" in way) return chooseModel(way.found, questions)
  const { name, variable } = way.hosted
  const key = await questions.secret(`Your API key of ${name}`)
  return hostedCandidate(way.hosted, key, `its key was given to init; ${variable} is not needed`)
}

function waysOf(found: readonly Candidate[]): Option<Way>[] {
  const asked = HOSTED_UPSTREAMS.filter(({ name }) => !found.some((one) => one.name === name))
  return [
    ...found.map((candidate) => ({
      value: { found: candidate },
      label: `${candidate.name}, ${candidate.models[0].name}`,
      hint: candidate.why,
    })),
    ...asked.map((hosted) => ({
      value: { hosted },
      label: `${hosted.name}, ${hosted.model.name}`,
      hint: "asks for a key",
    })),
    { value: "server", label: "Another server that speaks OpenAI's wire" },
    { value: "mock", label: "None yet: a mock answers", hint: "to look around" },
  ]
}

async function askServer(questions: Questions): Promise<Candidate> {
  const baseUrl = await questions.text("Its address", addressProblem, "http://127.0.0.1:8000/v1")
  const name = URL.parse(baseUrl)!.host
  let models = await listModels(baseUrl)
  const keyed = models === undefined || (await needsKey(questions))
  const apiKey = keyed ? await questions.secret("Its key (any text when it wants none)") : undefined
  if (apiKey) models = await listModels(baseUrl, apiKey)
  const parts = { name, baseUrl, ...(apiKey && { apiKey }) }
  const candidate = serverCandidate({ ...parts, models: models ?? [] })
  if (candidate) return chooseModel(candidate, questions)
  const model = await questions.text("It lists no models. The name of the model", nameProblem)
  return serverCandidate({ ...parts, models: [{ name: model }] })!
}

const needsKey = (questions: Questions): Promise<boolean> =>
  questions.agree("Does it want a key?", false)

async function chooseModel(candidate: Candidate, questions: Questions): Promise<Candidate> {
  if (candidate.models.length === 1) return candidate
  const name = await questions.choose(
    `Which model of ${candidate.name}?`,
    candidate.models.map((model) => ({ value: model.name, label: model.name })),
  )
  return withModel(candidate, name)
}

function addressProblem(text: string): string | undefined {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol)
    ? undefined
    : "an address begins with http:// or https:// and usually ends with /v1"
}

const nameProblem = (text: string): string | undefined =>
  text === "" ? "it cannot be empty" : undefined
