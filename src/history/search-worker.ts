/**
 * A thread that searches history on a read-only connection of its own: no query and no regular expression
 * holds the event loop. It is an entry point of its own in the build.
 */
import { KernelError } from "../lib/error.ts"
import type { SearchReply, SearchRequest } from "./search.ts"
import { search } from "./search-engine.ts"
import { openForSearch } from "./store/search-reads.ts"

declare const self: Worker

let open: ReturnType<typeof openForSearch> | undefined

self.onmessage = ({ data: request }: MessageEvent<SearchRequest>) => {
  const reply = (answer: Omit<SearchReply, "id">) => self.postMessage({ id: request.id, ...answer })
  try {
    if ("close" in request) {
      open?.close()
      open = undefined
      return reply({ page: { hits: [] } })
    }
    open ??= openForSearch(request.path)
    const { query, limitMs } = request
    reply({ page: search({ reads: open.reads, workedMs, limitMs }, query) })
  } catch (error) {
    if (error instanceof KernelError) return reply({ invalid: error.message })
    reply({ error: error instanceof Error ? error.message : String(error) })
  }
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
