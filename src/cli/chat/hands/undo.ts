/** Takes back what a turn wrote: the kernel its own files, this client those of its machine. */
import { rm } from "node:fs/promises"
import { basename } from "node:path"
import { readWhole, writeWhole } from "../../../files/local-disk.ts"
import type { NewId } from "../../../lib/id.ts"
import { sha256 } from "../../../lib/sha256.ts"
import type { Chat } from "../../../schema/chat.ts"
import type { ClientRestore } from "../../../schema/files.ts"
import { ClientError } from "../client-error.ts"
import type { KernelClient } from "../kernel-client.ts"
import { pathOf } from "./place.ts"

interface Outcome {
  restored: string[]
  removed: string[]
  /** Sentences about what was left as it is. */
  left: string[]
}

export interface UndoOptions {
  client: Pick<KernelClient, "restoreFiles">
  chat: Chat | undefined
  newId: NewId
}

/**
 * A sentence about what was taken back; files that were changed since stay as they are. Throws ClientError
 * when the chat wrote nothing.
 */
export async function undoTurn({ client, chat, newId }: UndoOptions): Promise<string> {
  if (chat === undefined) throw new ClientError("usage", "nothing was written yet")
  const told = await client.restoreFiles(chat.id)
  const here = chat.workdir_on === "client" ? chat.workdir : null
  const cwd = here ?? process.cwd()
  const outcome: Outcome = {
    restored: told.restored.map(({ path }) => path),
    removed: told.removed.map(({ path }) => path),
    left: told.conflicts.map(({ message }) => message),
  }
  for (const file of told.client) await undoHere(file, { cwd, newId, outcome })
  const parts = [
    outcome.restored.length > 0 && `restored ${names(outcome.restored)}`,
    outcome.removed.length > 0 && `removed ${names(outcome.removed)}`,
    outcome.left.length > 0 && `left alone: ${outcome.left.join("; ")}`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join(" · ") : "everything was as before already"
}

async function undoHere(
  { path: named, former, expect_sha256: expected }: ClientRestore,
  at: { cwd: string; newId: NewId; outcome: Outcome },
): Promise<void> {
  const { cwd, newId, outcome } = at
  const path = pathOf(named, cwd)
  try {
    const now = await readWhole(path)
    const hash = now ? sha256(now.bytes) : null
    if (hash !== expected) {
      outcome.left.push(`${basename(named)} was changed since`)
    } else if (former === null) {
      await rm(path, { force: true })
      outcome.removed.push(named)
    } else {
      await writeWhole({ path, bytes: Buffer.from(former, "base64"), newId })
      outcome.restored.push(named)
    }
  } catch (error) {
    outcome.left.push(
      `${basename(named)}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

const names = (paths: readonly string[]): string => paths.map((path) => basename(path)).join(", ")
