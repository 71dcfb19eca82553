/** The page at `/`: what a person sees who opens the address of the kernel. */
import { Type } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { describe } from "./describe.ts"
import home from "./home.html.txt" with { type: "text" }
import { pageReply } from "./page.ts"

export interface HomeOptions {
  version: string
  commit: string
  /** The API asks for a token. */
  hasToken: boolean
}

export function homeRoutes(options: HomeOptions) {
  return new Elysia().get("/", ({ request }) => pageReply(render(request, options)), {
    detail: describe({
      tag: "pages",
      summary: "What this is, for people",
      answers: { 200: { description: "A page", schema: Type.String(), type: "text/html" } },
    }),
  })
}

const NEEDS_TOKEN =
  "This kernel asks for a token: add <code>-H 'X-Eva-Token: …'</code> with the one of its settings (server.token)."
const NEEDS_NONE = "This kernel asks for no token."

function render(request: Request, { version, commit, hasToken }: HomeOptions): string {
  const fields: Record<string, string> = {
    version: Bun.escapeHTML(version),
    commit: Bun.escapeHTML(commit),
    origin: Bun.escapeHTML(new URL(request.url).origin),
    token: hasToken ? NEEDS_TOKEN : NEEDS_NONE,
  }
  return home.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => fields[name] ?? "")
}
