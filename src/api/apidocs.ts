/**
 * The page of the API: Swagger UI out of this program's own files, so that it works without a network, and
 * the document that it shows.
 */

import { Type } from "@sinclair/typebox"
import { Elysia } from "elysia"
import favicon from "swagger-ui-dist/favicon-32x32.png" with { type: "file" }
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" }
import bundle from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" }
import { notFound } from "../lib/error.ts"
import page from "./apidocs.html.txt" with { type: "text" }
import start from "./apidocs-start.js.txt" with { type: "text" }
import { describe, json } from "./describe.ts"
import { pageReply } from "./page.ts"

const SCRIPT = "text/javascript; charset=utf-8"

/** What the page loads, by name: a path of a file in this program, or its text. */
const FILES: Readonly<Record<string, { type: string; body: () => Bun.BunFile | string }>> = {
  "swagger-ui.css": { type: "text/css; charset=utf-8", body: () => Bun.file(style) },
  "swagger-ui-bundle.js": { type: SCRIPT, body: () => Bun.file(bundle) },
  "start.js": { type: SCRIPT, body: () => start },
  "favicon.png": { type: "image/png", body: () => Bun.file(favicon) },
}

/** `documentText` makes the OpenAPI document; it is asked once, by the first who wants it. */
export function apidocsRoutes(documentText: () => Promise<string>) {
  let made: Promise<string> | undefined
  return new Elysia()
    .get(
      "/v1/openapi.json",
      async () => {
        made ??= documentText()
        return new Response(await made, { headers: { "Content-Type": "application/json" } })
      },
      {
        detail: describe({
          tag: "pages",
          summary: "This document",
          answers: { 200: json(Type.Unknown(), "OpenAPI 3.1") },
        }),
      },
    )
    .get("/apidocs", () => pageReply(page), {
      detail: describe({
        tag: "pages",
        summary: "The page that shows this document",
        answers: { 200: { description: "Swagger UI", schema: Type.String(), type: "text/html" } },
      }),
    })
    .get(
      "/apidocs/:file",
      ({ params }) => {
        const file = FILES[params.file]
        if (!file) throw notFound("file of this page", params.file)
        return new Response(file.body(), {
          headers: { "Content-Type": file.type, "Cache-Control": "no-cache" },
        })
      },
      {
        detail: describe({
          tag: "pages",
          summary: "Files of that page",
          answers: { 200: { description: "Script, style or picture" } },
          problems: ["not_found"],
        }),
      },
    )
}
