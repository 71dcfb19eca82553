/** The database after a thousand messages and a clean stop, which folds the write-ahead log in. */
import { existsSync, statSync } from "node:fs"
import type { Bench } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { openLine } from "../line.ts"
import { newChat, takeTurn } from "../talk.ts"
import { startUpstream } from "../upstream.ts"

const CHATS = 10
/** A turn is two messages: what was said and the answer. */
const TURNS_OF_CHAT = 50

export const fileSize: Bench = {
  name: "file-size",
  run: async () => {
    await using upstream = await startUpstream()
    using folder = tempFolder()
    const kernel = await startKernel(folder, upstream.url)
    const line = await openLine(kernel.url)
    for (let index = 0; index < CHATS; index++) {
      const chat = await newChat(line)
      for (let turn = 0; turn < TURNS_OF_CHAT; turn++) await takeTurn(line, chat)
    }
    line.close()
    await kernel[Symbol.asyncDispose]()
    if (existsSync(`${folder.database}-wal`)) throw new Error("a clean stop left a write-ahead log")
    return [
      {
        figure: "file size after 1,000 messages, WAL folded in",
        measured: statSync(folder.database).size / 1024 ** 2,
        ...{ unit: "MiB", goal: { max: 1.5 }, floor: 0.4, peers: "0.4 / 7.1 / 53 MiB" },
      },
    ]
  },
}
