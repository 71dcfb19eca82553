/**
 * Keys that their owner published: they stand in the sample projects of Google's libraries, open nothing, and are
 * met in every copy of them. Kept as hashes, so that this file is no find of a scanner itself.
 */
import { sha256 } from "../../lib/sha256.ts"

/** The beginnings of their SHA-256. */
const PUBLISHED = new Set([
  "3f370c9dd8225c63",
  "e4a5542bb7fd7b67",
  "a19f89ab3555eac1",
  "37f8f09bdf12c2f2",
  "8731261cb72d8626",
  "27a9a42931dff7eb",
  "dc0fcf046c61640c",
  "4c98242dcadc8b29",
  "ea9bb1082cf95663",
  "a6c814bc555ae62c",
])
const HASH_CHARS = 16
/** Longer ones are not looked up. */
const KEY_CHARS = 64

export const isPublished = (secret: string): boolean =>
  secret.length <= KEY_CHARS && PUBLISHED.has(sha256(Buffer.from(secret)).slice(0, HASH_CHARS))
