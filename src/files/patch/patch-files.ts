/** The file tree that a patch acts on, as small as it can be: the machine behind it may be far away. */

export interface AnnouncedWrite {
  path: string
  /** Undefined when the file will be removed. */
  text: string | undefined
  /** As for `write`. */
  like?: string
}

export interface PatchFiles {
  /** Files can be removed and moved here. Where not, the reason, as a sentence for the model. */
  readonly cannotRemove: string | undefined
  /** The absolute path: what messages name, and what tells whether two changes mean one file. */
  resolve(path: string): string
  /** How many files are written at once: 1 where each write may be a question to somebody. */
  readonly parallel: number
  kindOf(path: string): Promise<"file" | "directory" | "absent">
  /**
   * The text of a file.
   *
   * @throws Error with a sentence when there is none or it is no text
   */
  read(path: string): Promise<string>
  /**
   * All that will be written, before the first of it.
   *
   * @throws Error with a sentence when a text cannot be written in the encoding of its file
   */
  announce(writes: readonly AnnouncedWrite[]): Promise<void>
  /**
   * Writes a whole file and the folders above it, in the encoding that it was read in here, else UTF-8. A new
   * file takes encoding and permissions of `like`, the file that it was.
   *
   * @throws Error with a sentence; the file is then as before
   */
  write(path: string, text: string, like?: string): Promise<void>
  remove(path: string): Promise<void>
}
