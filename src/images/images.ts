/**
 * The store of pictures. A sent picture lives as long as its chat, a drawn one for a time. The bytes are
 * files of their own, so that neither the database nor a context grows by a megabyte with each of them.
 */
import type { Clock } from "../lib/clock.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { isUuid, type NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { ImageData } from "../llm/provider.ts"
import type { ImageType } from "../schema/image.ts"
import type { ImageBlock } from "../schema/message.ts"
import type { Store } from "../store/open.ts"
import { type Admitted, admit, admitDrawing, type Candidate } from "./admission.ts"
import { pathOf, prepareFolder, removeFiles, removeStrays, writeWhole } from "./files.ts"
import { createImageTable, type ImageRow, type ImageTable } from "./store.ts"

/** Longest side that the strictest provider reads. */
const MAX_SIDE = 8000
const DRAWN_MAX_BYTES = 20 * 1024 * 1024
/** A younger file without a row may be a picture that is being stored right now. */
const STRAY_AGE_MS = 60 * 60 * 1000

export interface ImagesOptions {
  store: Store
  clock: Clock
  /** UUIDv4: whoever knows the id reads the picture. */
  newId: NewId
  dir: string
  /** What public links begin with; absent: they are paths of this server. */
  baseUrl?: string
  /** How long a drawn picture is kept. */
  keepMs: number
  /** Largest picture of a message. */
  maxBytes: number
  /** Longest side of a picture of a message, pixels. */
  maxSide?: number
  log: Log
}

export interface Images {
  /**
   * Stores the pictures of one send: every one is checked before the first is stored. Throws KernelError on
   * `images.N`: too_large, invalid, or unavailable when the disk refuses.
   */
  acceptAll(pictures: readonly Candidate[], chatId: string): Promise<ImageBlock[]>
  /** Stores what a model drew. Throws KernelError: invalid for a foreign format, too_large, unavailable. */
  keepDrawn(drawn: { bytes: Uint8Array; chatId?: string }): Promise<ImageBlock>
  /** The file of a picture; undefined when there is none, or none any more. */
  read(id: string): Promise<{ file: Bun.BunFile; mediaType: ImageType } | undefined>
  /** Pictures for a request to a model; one that is gone is left out. */
  load(ids: Iterable<string>): Promise<Map<string, ImageData>>
  url(id: string): string
  /** Removes expired pictures, and what a crash left behind: pictures of erased chats, files without a row. */
  purgeExpired(): Promise<number>
  /** Removes the pictures of an erased chat, except those that a branch of it shows. Not in a transaction. */
  removeOfChat(chatId: string): Promise<number>
}

export function createImages(options: ImagesOptions): Images {
  const { store, clock, dir, maxBytes, maxSide = MAX_SIDE } = options
  prepareFolder(dir)
  const table = createImageTable(store.db)
  const parts: Parts = { ...options, table }

  return {
    acceptAll: async (pictures, chatId) => {
      const limits = { maxBytes, maxSide }
      const admitted = pictures.map((each, index) => admit(each, limits, `images.${index}`))
      return keep(parts, admitted, { origin: "sent", chat_id: chatId, expires_at: null })
    },
    keepDrawn: async ({ bytes, chatId = null }) => {
      const admitted = admitDrawing(bytes, DRAWN_MAX_BYTES)
      const expires_at = clock.now() + options.keepMs
      const [block] = await keep(parts, [admitted], {
        origin: "drawn",
        chat_id: chatId,
        expires_at,
      })
      return block!
    },
    read: (id) => read(parts, id),
    load: (ids) => load(parts, ids),
    url: (id) => `${options.baseUrl?.replace(/\/+$/, "") ?? ""}/images/${id}`,
    purgeExpired: () => purge(parts),
    removeOfChat: (chatId) => removeOfChat(parts, chatId),
  }
}

interface Parts extends ImagesOptions {
  table: ImageTable
}

interface NamedPicture extends Admitted {
  id: string
}

/** Files first, rows second and all at once: a row never names a file that is not there. */
async function keep(
  parts: Parts,
  admitted: readonly Admitted[],
  life: Pick<ImageRow, "origin" | "chat_id" | "expires_at">,
): Promise<ImageBlock[]> {
  if (admitted.length === 0) return []
  const { store, table, clock } = parts
  const pictures = admitted.map((each): NamedPicture => ({ ...each, id: parts.newId() }))
  await writeAll(parts, pictures)
  const created_at = clock.now()
  store.write(() => {
    for (const { id, bytes, mediaType } of pictures) {
      table.insert({ id, media_type: mediaType, bytes: bytes.byteLength, created_at, ...life })
    }
  })
  return pictures.map(({ id, mediaType }) => ({ type: "image", id, media_type: mediaType }))
}

/** All files or none, one after another: a send of many does not take the disk from everybody. */
async function writeAll({ dir, log }: Parts, pictures: readonly NamedPicture[]): Promise<void> {
  try {
    for (const { id, bytes } of pictures) await writeWhole(dir, id, bytes)
  } catch (error) {
    const ids = pictures.map(({ id }) => id)
    await removeFiles(dir, ids)
    log.error("a picture could not be stored", { dir, error: errorText(error) })
    throw new KernelError("unavailable", "the picture cannot be stored now", { cause: error })
  }
}

async function read({ table, clock, dir, log }: Parts, id: string) {
  // Only an id of ours becomes a part of a path.
  const row = isUuid(id) ? table.find(id, clock.now()) : undefined
  if (!row) return undefined
  const file = Bun.file(pathOf(dir, id), { type: row.media_type })
  if (await file.exists()) return { file, mediaType: row.media_type }
  log.warn("the file of a picture is gone", { image_id: id })
  return undefined
}

async function load(parts: Parts, ids: Iterable<string>): Promise<Map<string, ImageData>> {
  const found = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      const picture = await read(parts, id)
      if (!picture) return []
      const base64 = Buffer.from(await picture.file.arrayBuffer()).toString("base64")
      return [[id, { mediaType: picture.mediaType, base64 }] as const]
    }),
  )
  return new Map(found.flat())
}

async function purge(parts: Parts): Promise<number> {
  const { store, table, clock, dir } = parts
  const expired = store.write(() => table.removeExpired(clock.now()))
  await removeFiles(dir, expired)
  let removed = expired.length
  for (const chatId of table.erasedChats()) removed += await removeOfChat(parts, chatId)
  return removed + (await removeStrays(dir, table.allIds(), clock.now() - STRAY_AGE_MS))
}

async function removeOfChat({ store, table, dir }: Parts, chatId: string): Promise<number> {
  if (!table.hasAnyOfChat(chatId)) return 0
  const ids = store.write(() => {
    table.handToBranches(chatId)
    return table.removeOfChat(chatId)
  })
  await removeFiles(dir, ids)
  return ids.length
}
