/** A kernel behind its port: what `eva-kernel serve` starts. */
import { createApi } from "../api/app.ts"
import type { Serving, StartServing } from "../cli/serve.ts"
import { parseListen } from "../config/listen.ts"
import { createKernel } from "../kernel.ts"
import { systemClock } from "../lib/clock.ts"
import { KernelError } from "../lib/error.ts"

/** Throws KernelError: config for settings and files, unavailable for a port that is taken. */
export const startServing: StartServing = async ({ config, environment, log }) => {
  const listen = parseListen(config.server.listen)
  if (!listen) {
    const message = `"${config.server.listen}" is no address such as 127.0.0.1:8090`
    throw new KernelError("config", message, { path: "server.listen" })
  }
  const kernel = await createKernel({ config, environment, log, clock: systemClock })
  try {
    const server = createApi(kernel.api).listen(listen)
    const close: Serving["close"] = async (drainMs) => {
      await kernel.drain(drainMs)
      // The file is closed behind the door: what is still being answered may need it.
      await server.stop()
      await kernel.close(0)
    }
    return { url: server.url, close }
  } catch (error) {
    await kernel.close(0)
    throw error
  }
}
