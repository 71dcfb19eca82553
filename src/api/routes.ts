/** All routes as one Elysia application, and what happens when none fits or one throws. */
import type { ValueError } from "@sinclair/typebox/errors"
import { type AnyElysia, Elysia, ParseError, ValidationError } from "elysia"
import { apidocsRoutes } from "./apidocs.ts"
import { readJson } from "./body.ts"
import { catalogueRoutes } from "./catalogue.ts"
import { chatSettingRoutes } from "./chat-settings.ts"
import { chatRoutes } from "./chats.ts"
import { completeRoutes } from "./complete.ts"
import { openApiDocument } from "./document.ts"
import { explainMisfit, type Place } from "./explain.ts"
import { fileRoutes } from "./files.ts"
import { homeRoutes } from "./home.ts"
import { imageRoutes } from "./images.ts"
import { kernelBytesRoutes } from "./kernel-bytes.ts"
import { memoryRoutes } from "./memories.ts"
import { messageRoutes } from "./messages.ts"
import { noteRoutes } from "./notes.ts"
import { opRoutes } from "./ops.ts"
import type { ApiParts } from "./parts.ts"
import { personRoutes } from "./persons.ts"
import { planRoutes } from "./plan.ts"
import { problemReply, replyToThrown } from "./problem.ts"
import { questionRoutes } from "./questions.ts"
import { sleepRoutes } from "./sleep.ts"
import { statsRoutes } from "./stats.ts"
import type { Streams } from "./stream.ts"
import { summaryRoutes } from "./summary.ts"
import { toolsetRoutes } from "./toolsets.ts"
import { turnRoutes } from "./turns.ts"

export function createRoutes(parts: ApiParts, streams: Streams): AnyElysia {
  const { config, build, chats, persons, memories, images } = parts
  const streamed = { ...parts, streams }
  const api: AnyElysia = new Elysia({
    normalize: false,
    // Otherwise the path is looked for behind the 11th character, and with a host of one or two letters
    // the door and the routes would read different paths.
    handler: { standardHostname: false },
  })
    .onParse({ as: "global" }, ({ request }) => readJson(request, config.server.body_max))
    .onError({ as: "global" }, ({ code, error, request }) => {
      if (code === "NOT_FOUND") return noRoute(api, request)
      return replyToThrown(expected(error), parts)
    })
    .use(homeRoutes({ ...build, hasToken: config.server.token !== undefined }))
    .use(catalogueRoutes(parts))
    .use(toolsetRoutes(parts))
    .use(chatRoutes(parts))
    .use(chatSettingRoutes(chats))
    .use(summaryRoutes(parts))
    .use(noteRoutes(parts))
    .use(planRoutes(parts))
    .use(messageRoutes(streamed))
    .use(turnRoutes(streamed))
    .use(fileRoutes(parts))
    .use(opRoutes(parts))
    .use(kernelBytesRoutes(parts))
    .use(questionRoutes(parts))
    .use(personRoutes(persons))
    .use(memoryRoutes(memories))
    .use(sleepRoutes(parts.sleep))
    .use(statsRoutes(parts))
    .use(completeRoutes(parts))
    .use(imageRoutes(images))
    .use(apidocsRoutes(() => openApiDocument(api, build.version)))
  return api
}

/** What the framework wraps or throws itself, as an error of ours. */
function expected(error: unknown): unknown {
  if (error instanceof ParseError) return error.cause
  if (error instanceof ValidationError) {
    return explainMisfit(error.type as Place, error.all as ValueError[])
  }
  return error
}

/** 405 when the path exists with another method, else 404. */
function noRoute(api: AnyElysia, request: Request): Response {
  const { pathname } = new URL(request.url)
  const allowed = api.routes.filter(({ path }) => fits(path, pathname)).map(({ method }) => method)
  if (allowed.length === 0) {
    return problemReply("not_found", `no route ${request.method} ${pathname}; /apidocs lists all`)
  }
  const list = allowed.join(", ")
  const error = `${request.method} is not possible on ${pathname}; possible are ${list}`
  return problemReply("method_not_allowed", error, { headers: { Allow: list } })
}

/** Whether `/v1/chats/:id` is the pattern of this path. */
function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split("/")
  const parts = path.replace(/(.)\/$/, "$1").split("/")
  return (
    wanted.length === parts.length &&
    wanted.every((part, index) => part.startsWith(":") || part === parts[index])
  )
}
