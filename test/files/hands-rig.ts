/** Hands of this machine or of any other one, for tests that need no whole kernel. */
import { readFileSync } from "node:fs"
import { createLineIndex } from "../../src/files/line-index.ts"
import { localHands } from "../../src/files/local-hands.ts"
import { machineHands } from "../../src/files/machine-hands.ts"
import { createScanner } from "../../src/files/scanner.ts"
import type { SeenFiles } from "../../src/files/seen-files.ts"
import { type HandsOf, handsOf } from "../../src/files/which-hands.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import { sha256 } from "../../src/lib/sha256.ts"
import type { Machine } from "../../src/tools/machine.ts"

/** Of an agent that has just read every file of this machine. */
export const readsAll: SeenFiles = {
  saw: () => {},
  last: ({ path }) => ({ sha256: sha256(readFileSync(path)) }),
  changed: () => {},
  forget: () => {},
}

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
