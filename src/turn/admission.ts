/**
 * Admission: a send becomes durable rows, all of them or none, before anybody is told. Execution is
 * another matter.
 */
import { KernelError } from "../lib/error.ts"
import type { NewId } from "../lib/id.ts"
import { cleanText, cutMiddle, firstLine } from "../lib/text.ts"
import { hasUltrathink } from "../llm/effort.ts"
import type { Chat } from "../schema/chat.ts"
import { isMachineText } from "../schema/machine-text.ts"
import type { Block } from "../schema/message.ts"
import type { BatchMessage, NewImage, Send } from "../schema/send.ts"
import { SOURCE_MESSAGE, type TurnSpec } from "./spec.ts"

const TITLE_MAX_CHARS = 60

export interface Picture {
  base64: string
  mediaType?: string
}

/** One person's words, checked and ready to store. */
export interface Utterance {
  blocks: Block[]
  master: boolean
  privileged: boolean
  sender: string | undefined
  anchor: string | undefined
  ext_id: string | undefined
  reply_to_ext_id: string | undefined
  reply_to_text: string | undefined
  /** When it was said, when the surface knows; milliseconds. */
  saidAt: number | undefined
}

export interface Speaker {
  master: boolean
  trusted: boolean
  privileged: boolean
  sender: string | undefined
}

export interface AdmissionParts {
  newId: NewId
  speakerOf(claim: {
    sender?: string
    guest?: boolean
    trusted?: boolean
    privileged?: boolean
  }): Speaker
  /** Checks all pictures, then stores them; throws KernelError with the field that is wrong. */
  acceptImages(
    pictures: readonly Picture[],
    chatId: string,
  ): Promise<{ id: string; media_type: string }[]>
  /** True, or a sentence that names the nearest known model. */
  isKnownModel(name: string): true | string
  magicKeywords: boolean
  /** A client's addition to the prompt is cut in the middle past this; 0 takes all of it. */
  clientContextChars: number
  /** Throws KernelError("invalid") for a set that is not there. */
  checkToolset(name: string): void
}

/**
 * Everything a send says, in order: the batch first, then its own text. Nothing is stored, not even a
 * picture, before all of it has been checked. Throws KernelError("invalid").
 */
export async function utterancesOf(
  chat: Chat,
  send: Send,
  parts: AdmissionParts,
): Promise<Utterance[]> {
  const said = saidIn(send)
  const utterances = said.map(({ body, path }) => utteranceOf(send, { body, path }, parts))
  const pictures = said.map(({ body }) => (body.images ?? []).map(asPicture))
  if (pictures.every((list) => list.length === 0)) return utterances
  const stored = await parts.acceptImages(pictures.flat(), chat.id)
  return utterances.map((utterance, index) => {
    const own = stored.splice(0, pictures[index]!.length)
    const images = own.map(({ id, media_type }): Block => ({ type: "image", id, media_type }))
    return { ...utterance, blocks: [...utterance.blocks, ...images] }
  })
}

/** The send's words without its pictures: enough to compute its rights. */
export const wordsOf = (send: Send, parts: AdmissionParts): Utterance[] =>
  saidIn(send).map((said) => utteranceOf(send, said, parts))

const asPicture = ({ data, media_type }: NewImage): Picture => ({
  base64: data,
  ...(media_type !== undefined && { mediaType: media_type }),
})

interface Said {
  body: BatchMessage
  /** Where the body stands in the send, for errors. */
  path: string
}

function saidIn(send: Send): Said[] {
  const said: Said[] = (send.batch ?? []).map((body, index) => ({
    body,
    path: `batch.${index}.`,
  }))
  const own = send.text !== undefined || send.images !== undefined
  if (own || said.length === 0) said.push({ body: send, path: "" })
  return said
}

function utteranceOf(send: Send, { body, path }: Said, parts: AdmissionParts): Utterance {
  const speaker = parts.speakerOf(claimOf(send, body.sender ?? send.sender))
  return {
    blocks: textBlocks(body, path),
    master: speaker.master,
    privileged: speaker.privileged,
    sender: speaker.sender,
    anchor: path === "" ? send.anchor : undefined,
    ext_id: body.ext_id,
    reply_to_ext_id: body.reply_to_ext_id,
    reply_to_text: body.reply_to_text,
    saidAt: body.at === undefined ? undefined : instant(body.at, `${path}at`),
  }
}

const claimOf = ({ guest, trusted, privileged }: Send, sender: string | undefined) => ({
  ...(guest !== undefined && { guest }),
  ...(trusted !== undefined && { trusted }),
  ...(privileged !== undefined && { privileged }),
  ...(sender !== undefined && { sender }),
})

function textBlocks(body: BatchMessage, path: string): Block[] {
  const text = cleanText(body.text ?? "")
  if (text.trim() !== "") {
    // Speech that begins like the kernel's own marker would be taken for it: one space keeps it speech.
    return [{ type: "text", text: isMachineText(text) ? ` ${text}` : text }]
  }
  if (body.images?.length) return []
  throw new KernelError("invalid", "a message needs text or images", { path: `${path}text` })
}

function instant(text: string, path: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms) || !/([zZ]|[+-]\d\d:?\d\d)$/.test(text)) {
    throw new KernelError(
      "invalid",
      `"${text}" is no instant: write ISO 8601 with a zone, such as 2026-01-31T12:00:00Z`,
      { path },
    )
  }
  return ms
}

/** The spec of the turn that answers these utterances. Throws KernelError("invalid") for an unknown model or set. */
export function specOf(
  chat: Chat,
  send: Send,
  said: { utterances: readonly Utterance[]; parts: AdmissionParts },
): TurnSpec {
  const { utterances, parts } = said
  const known = send.model === undefined ? true : parts.isKnownModel(send.model)
  if (known !== true) throw new KernelError("invalid", known, { path: "model" })
  if (typeof send.toolset === "string") parts.checkToolset(send.toolset)
  const last = utterances.at(-1)!
  const speaker = parts.speakerOf(claimOf(send, send.sender ?? last.sender))
  // A turn that answers several people has the rights of the least of them.
  const master = speaker.master && utterances.every((utterance) => utterance.master)
  const privileged = speaker.privileged && utterances.every((utterance) => utterance.privileged)
  const { trusted } = speaker
  // Hands on somebody's machine are for a place that is trusted, whoever claims to have them.
  const clientOps = trusted && send.client_ops === true
  return {
    id: parts.newId(),
    chatId: chat.id,
    source: SOURCE_MESSAGE,
    identity: {
      master,
      trusted,
      privileged,
      anchored: send.anchor !== undefined,
      clientOps,
      agent: false,
      hasAgents: false,
      indexedNotes: false,
      planning: master && clientOps,
      public: !trusted && (send.anchor !== undefined || chat.surface !== null),
    },
    sender: speaker.sender,
    anchor: send.anchor,
    model: send.model,
    surfaceModel: send.surface_model,
    effort: send.effort,
    surfaceEffort: send.surface_effort,
    ultrathink: parts.magicKeywords && master && hasUltrathink(textOf(last.blocks)),
    maxTokens: send.max_tokens,
    uncapped: trusted && send.uncapped_iterations === true,
    clientContext: trusted ? clientContextOf(send, parts) : undefined,
    brief: send.brief === true,
    access: send.tools ? [{ source: "request", access: { kind: "only", names: send.tools } }] : [],
    toolset: send.toolset,
    projectDocs: clientOps && send.project_docs === true,
    extraTools: send.extra_tools ?? [],
  }
}

function clientContextOf({ context }: Send, parts: AdmissionParts): string | undefined {
  const limit = parts.clientContextChars
  return context && limit > 0 ? cutMiddle(context, limit) : context || undefined
}

/** What a chat without a title is called: as its surface names it, else by the first line of what is said. */
export const titleOf = ({ chat_title = "" }: Pick<Send, "chat_title">, first: Utterance): string =>
  firstLine(cleanText(chat_title), TITLE_MAX_CHARS) ||
  firstLine(textOf(first.blocks), TITLE_MAX_CHARS)

const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
