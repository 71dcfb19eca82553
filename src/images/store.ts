/** Rows of pictures; their bytes are files. */
import type { Database } from "bun:sqlite"
import type { ImageType } from "../schema/image.ts"

export interface ImageRow {
  id: string
  media_type: ImageType
  bytes: number
  /** `sent` pictures live as long as their chat, `drawn` ones expire. */
  origin: "sent" | "drawn"
  chat_id: string | null
  created_at: number
  expires_at: number | null
}

interface IdRow {
  id: string
}

export type ImageTable = ReturnType<typeof createImageTable>

export const createImageTable = (db: Database) => ({ ...stored(db), ...endings(db) })

function stored(db: Database) {
  const insert = (row: ImageRow) =>
    db
      .query(
        `INSERT INTO images (id, media_type, bytes, origin, chat_id, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        row.id,
        row.media_type,
        row.bytes,
        row.origin,
        row.chat_id,
        row.created_at,
        row.expires_at,
      )

  /** The picture unless it has expired at `now`. */
  const find = (id: string, now: number) =>
    db
      .query<Pick<ImageRow, "id" | "media_type" | "bytes">, [string, number]>(
        `SELECT id, media_type, bytes FROM images
         WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)`,
      )
      .get(id, now) ?? undefined

  const hasAnyOfChat = (chatId: string) =>
    db.query<IdRow, [string]>("SELECT id FROM images WHERE chat_id = ? LIMIT 1").get(chatId) !==
    null

  const allIds = () => new Set(idsOf(db.query<IdRow, []>("SELECT id FROM images").all()))

  return { insert, find, hasAnyOfChat, allIds }
}

/** How pictures come to their end; each removal gives the ids whose files go too. */
function endings(db: Database) {
  const removeExpired = (now: number) =>
    idsOf(
      db.query<IdRow, [number]>("DELETE FROM images WHERE expires_at <= ? RETURNING id").all(now),
    )

  const removeOfChat = (chatId: string) =>
    idsOf(
      db.query<IdRow, [string]>("DELETE FROM images WHERE chat_id = ? RETURNING id").all(chatId),
    )

  /** Pictures that a branch still shows become the branch's: it outlives the chat it came from. */
  const handToBranches = (chatId: string) =>
    db
      .query(
        `UPDATE images SET chat_id = heir.chat_id
         FROM (
           SELECT block.value ->> 'id' AS image_id, min(messages.chat_id) AS chat_id
           FROM chats JOIN messages ON messages.chat_id = chats.id, json_each(messages.blocks) AS block
           WHERE chats.forked_from IS NOT NULL AND chats.id <> ?1
             AND messages.blocks LIKE '%"image"%' AND block.value ->> 'type' = 'image'
           GROUP BY 1
         ) AS heir
         WHERE images.id = heir.image_id AND images.chat_id = ?1`,
      )
      .run(chatId)

  /** Chats that are gone while their pictures are still here. */
  const erasedChats = () =>
    idsOf(
      db
        .query<IdRow, []>(
          `SELECT DISTINCT chat_id AS id FROM images
           WHERE chat_id IS NOT NULL AND chat_id NOT IN (SELECT id FROM chats)`,
        )
        .all(),
    )

  return { removeExpired, removeOfChat, handToBranches, erasedChats }
}

const idsOf = (rows: IdRow[]): string[] => rows.map(({ id }) => id)
