/** Chores by the clock: what fell silent or expired goes, and the index of history is kept in order. */
import type { Chats } from "../chats/chats.ts"
import type { History } from "../history/history.ts"
import type { Images } from "../images/images.ts"
import type { Clock } from "../lib/clock.ts"
import { errorText } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import type { Sleep } from "../sleep/sleep.ts"
import type { Files } from "./files.ts"

/** A timer that sleeps longer than this would miss what was made meanwhile, or a machine that slept. */
const LOOK_EVERY_MS = 5 * 60_000
/** Behind the first replies: nothing here may delay the start. */
const FIRST_LOOK_MS = 500
const DAY_MS = 24 * 3600 * 1000

export interface Chores {
  chats: Pick<Chats, "reap" | "nextReapAt">
  images: Pick<Images, "purgeExpired" | "removeOfChat">
  files: Pick<Files, "checkpoints">
  history: Pick<History, "note" | "sweep">
  zone: Pick<TimeZone, "local">
  sleep: Pick<Sleep, "startTimer">
  clock: Clock
  log: Log
}

/** Looks soon after the start and then every few minutes; gives the function that stops it. */
export function startHousekeeping(chores: Chores): () => void {
  const { chats, images, files, history, zone, clock, log } = chores
  let purgedAt = Number.NEGATIVE_INFINITY

  const look = async (): Promise<void> => {
    const due = chats.nextReapAt()
    if (due !== undefined && due <= clock.now()) {
      const gone = await chats.reap()
      for (const chatId of gone) await images.removeOfChat(chatId)
      if (gone.length > 0) log.info("ephemeral chats reaped", { chats: gone.length })
    }
    if (clock.now() - purgedAt < DAY_MS) return
    purgedAt = clock.now()
    const purged = await images.purgeExpired()
    if (purged > 0) log.info("expired pictures purged", { images: purged })
    const dropped = files.checkpoints.purgeExpired()
    if (dropped > 0) log.info("expired checkpoints purged", { files: dropped })
    // What a former kernel left, or one without an index.
    history.note()
    await history.sweep()
  }
  const lookSafely = () => {
    void look().catch((error) => log.error("housekeeping failed", { error: errorText(error) }))
  }

  const first = setTimeout(() => {
    // Zone data take a while to load; the first turn shall not wait for them.
    zone.local(clock.now())
    lookSafely()
  }, FIRST_LOOK_MS)
  const timer = setInterval(lookSafely, LOOK_EVERY_MS)
  const stopSleepTimer = chores.sleep.startTimer()
  for (const one of [first, timer]) one.unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
    stopSleepTimer()
  }
}
