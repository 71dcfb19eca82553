/** What tells one content from another. */

/** SHA-256 of the bytes, in hex. */
export const sha256 = (bytes: Uint8Array): string => Bun.SHA256.hash(bytes, "hex")
