/**
 * A thread that ranks memories on a read-only connection of its own, so that a large corpus never holds the
 * event loop. It is an entry point of its own in the build.
 */
import type { RecallReply, RecallRequest } from "./recall.ts"
import { RecallEngine } from "./recall-engine.ts"
import { openForRecall } from "./store/open-for-recall.ts"

declare const self: Worker

let open: ReturnType<typeof openForRecall> | undefined
let engine: RecallEngine | undefined

self.onmessage = ({ data: request }: MessageEvent<RecallRequest>) => {
  const reply = (answer: Omit<RecallReply, "id">) => self.postMessage({ id: request.id, ...answer })
  try {
    if ("close" in request) {
      open?.close()
      open = undefined
      engine = undefined
      return reply({ hits: [] })
    }
    open ??= openForRecall(request.path)
    engine ??= new RecallEngine(open.reads)
    engine.changed(request.changed)
    reply({ hits: engine.find(request.query) })
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) })
  }
}
