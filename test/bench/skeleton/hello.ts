/** The smallest Elysia server with a `/health`: what a cold start is compared with. */
import { Elysia } from "elysia"

const app = new Elysia().get("/health", () => ({ status: "ok" }))
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: app.fetch })
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
