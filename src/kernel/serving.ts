/** A kernel behind its port: what `eva-kernel serve` starts. */
import { createApi } from "../api/app.ts"
import { localUrl, removeAddressFile, writeAddressFile } from "../cli/chat/address-file.ts"
import type { Serving, StartServing } from "../cli/serve.ts"
import { parseListen } from "../config/listen.ts"
import type { Config } from "../config/schema.ts"
import { createKernel } from "../kernel.ts"
import { version } from "../lib/build-info.ts"
import { systemClock } from "../lib/clock.ts"
import { errorText, KernelError } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"

/** Throws KernelError: config for settings and files, unavailable for a port that is taken. */
export const startServing: StartServing = async ({ config, environment, log, transient }) => {
  const listen = parseListen(config.server.listen)
  if (!listen) {
    const message = `"${config.server.listen}" is no address such as 127.0.0.1:8090`
    throw new KernelError("config", message, { path: "server.listen" })
  }
  const kernel = await createKernel({ config, environment, log, clock: systemClock })
  try {
    const server = createApi(kernel.api).listen(listen)
    const { url } = server
    announce(config, { log, url, transient })
    const close: Serving["close"] = async (drainMs) => {
      await kernel.drain(drainMs)
      removeAddressFile(config.db.path, process.pid)
      // The file is closed behind the door: what is still being answered may need it.
      await server.stop()
      await kernel.close(0)
    }
    return { url, close }
  } catch (error) {
    await kernel.close(0)
    throw error
  }
}

/** Tells clients on this machine where to call. Without it they need --url, and nothing else is lost. */
function announce(
  { db, server }: Config,
  at: { log: Log; url: string; transient: boolean | undefined },
): void {
  const { log, url, transient } = at
  try {
    const entry = { url: localUrl(url), pid: process.pid, version, token: server.token, transient }
    writeAddressFile(db.path, entry)
  } catch (error) {
    log.warn("local clients will not find this kernel by itself", { error: errorText(error) })
  }
}
