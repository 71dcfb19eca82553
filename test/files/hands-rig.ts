/** Hands of this machine or of any other one, for tests that need no whole kernel. */
import { createLineIndex } from "../../src/files/line-index.ts"
import { localHands } from "../../src/files/local-hands.ts"
import { machineHands } from "../../src/files/machine-hands.ts"
import { createScanner } from "../../src/files/scanner.ts"
import { type HandsOf, handsOf } from "../../src/files/which-hands.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import type { Machine } from "../../src/tools/machine.ts"

/** Nothing is read in lines there, so its thread never starts. */
const lineIndex = createLineIndex(createScanner())

export const handsHere = (cwd: string) =>
  localHands({
    ...{ name: "server", cwd, newId: uuidV4, lineIndex },
    signal: new AbortController().signal,
  })

/** The hands of a call, with this machine as the server's. */
export const handsOn = (machine: Machine): HandsOf =>
  handsOf((call) =>
    machine.remote
      ? machineHands({ machine, newId: uuidV4, ...call })
      : localHands({ name: machine.name, newId: uuidV4, lineIndex, ...call }),
  )
