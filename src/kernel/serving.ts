/** A kernel behind its port: what `eva-kernel serve` starts. */
import { createApi } from "../api/app.ts"
import type { Serving, StartServing } from "../cli/serve.ts"
import { parseListen } from "../config/listen.ts"
import { createKernel } from "../kernel.ts"
import { systemClock } from "../lib/clock.ts"
import { errorText, KernelError } from "../lib/error.ts"

/** Throws KernelError: config for settings and files, unavailable for a port that is taken. */
export const startServing: StartServing = async ({ config, environment, log }) => {
  const listen = parseListen(config.server.listen)
  if (!listen) {
    const message = `server.listen: "${config.server.listen}" is no address such as 127.0.0.1:8090`
    throw new KernelError("config", message, { path: "server.listen" })
  }
  const kernel = await createKernel({ config, environment, log, clock: systemClock })
  try {
    const server = createApi(kernel.api).listen(listen)
    const close: Serving["close"] = async (drainMs) => {
      await kernel.close(drainMs)
      await server.stop()
    }
    return { url: server.url, close }
  } catch (error) {
    await kernel.close(0)
    throw new KernelError(
      "unavailable",
      `server.listen: cannot listen on ${config.server.listen}: ${errorText(error)}. Stop whoever holds it, or choose another port`,
      { path: "server.listen", cause: error },
    )
  }
}
