/**
 * The files of one machine as the file tools see them: this machine, an ssh host, or the machine of the turn's
 * client. Reading goes in bounded pieces, so that memory stays flat whatever the size of a file.
 */
import type { WorkdirOn } from "../schema/chat.ts"
import type { WholeFiles } from "./whole-files.ts"

export interface Hands {
  /** As answers and checkpoints name it: `server`, the ssh host, or `client`. */
  readonly name: string
  /** The value of the parameter `on` that means it. */
  readonly on: WorkdirOn
  /** To read and replace files as a whole. */
  readonly whole: WholeFiles
  /** Bytes of a file that one search looks through; undefined: all of them. */
  readonly searchBytesMax?: number
  /** How many files are written at once: 1 where each write is a trip far away, or a question to somebody. */
  readonly parallel: number
  /** Absolute, as far as that is known here. */
  resolve(path: string): string
  /** @throws FileProblem, or ToolFailure in the words of a machine that says for itself what is wrong */
  read(path: string, piece: PieceAt): Promise<FilePiece>
  /** Where lines stand that end with the byte 0x0A; absent where every byte would have to travel for that. */
  lines?(path: string, at: LinesAt): Promise<LineSpan>
  /** Places of bytes; absent where they are looked for here, in pieces of the file. */
  find?(path: string, wanted: BytesWanted): Promise<FoundBytes>
  /** Names in a folder; undefined when it cannot be read. */
  list(folder: string): Promise<string[] | undefined>
}

export interface PieceAt {
  offset: number
  /** Bytes at most; fewer may come before the end of the file, but none only behind it. */
  size: number
}

export interface FilePiece {
  /** Bytes of the whole file. */
  total: number
  bytes: Uint8Array
  /** Changes with the file, where the machine tells such a thing. */
  stamp?: string
  /** It came as a text: bytes that are none are lost. */
  isText?: boolean
}

export interface LinesAt {
  /** First line, counted from 1. */
  from: number
  count: number
}

export interface LineSpan {
  /** Bytes from the first line to behind the last, line ends included; equal behind the end of the file. */
  start: number
  end: number
  /** Lines of the whole file. */
  total: number
}

export interface BytesWanted {
  bytes: Uint8Array
  /** Where the search begins. */
  offset: number
  /** Places that are told. */
  limit: number
  signal: AbortSignal
}

export interface FoundBytes {
  /** Bytes of the whole file. */
  total: number
  /** Where the bytes begin, in order. */
  offsets: number[]
}

export type FileProblemKind = "absent" | "folder" | "special" | "denied"

/** Why a file cannot be read, for the caller to say it with what stands around the file. */
export class FileProblem extends Error {
  override readonly name = "FileProblem"
  readonly kind: FileProblemKind

  constructor(kind: FileProblemKind, options: { cause?: unknown } = {}) {
    super(PROBLEM_WORDS[kind], options)
    this.kind = kind
  }
}

const PROBLEM_WORDS: Record<FileProblemKind, string> = {
  absent: "there is no such file",
  folder: "it is a folder",
  special: "it is a device, a pipe or a socket, and not a regular file",
  denied: "the system does not let the kernel read it",
}
