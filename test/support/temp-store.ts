/** A real database in a folder of its own, with a clock that the test moves. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { manualClock } from "../../src/lib/clock.ts"
import { silentLog } from "../../src/lib/log.ts"
import { openStore } from "../../src/store/open.ts"

export const openTempStore = (start = "2026-01-05T10:00:00Z") => {
  const folder = mkdtempSync(join(tmpdir(), "eva-store-"))
  const store = openStore({ path: join(folder, "eva.db"), log: silentLog })
  return {
    folder,
    store,
    clock: manualClock(Date.parse(start)),
    close: () => {
      store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
