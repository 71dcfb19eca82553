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
import type { Block, ImageBlock } from "../schema/message.ts"
import type { BatchMessage, NewImage, Send } from "../schema/send.ts"
import { SOURCE_MESSAGE, type TurnSpec } from "./spec.ts"

/** A client's system addendum is cut in the middle past this. */
export const CLIENT_CONTEXT_MAX_CHARS = 32_000
const TITLE_MAX_CHARS = 60

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
  speakerOf(who: {
    sender?: string | undefined
    guest?: boolean | undefined
    trusted?: boolean | undefined
    privileged?: boolean | undefined
  }): Speaker
  /** Checks and stores a picture; throws KernelError with the field it was given. */
  acceptImage(image: NewImage, chatId: string, path: string): ImageBlock
  /** True, or a sentence that names the nearest known model. */
  isKnownModel(name: string): true | string
  magicKeywords: boolean
}

/** Everything a send says, in order: the batch first, then its own text. Throws KernelError("invalid"). */
export function utterancesOf(chat: Chat, send: Send, parts: AdmissionParts): Utterance[] {
  const said: { body: BatchMessage; path: string }[] = (send.batch ?? []).map((body, index) => ({
    body,
    path: `batch.${index}.`,
  }))
  const own = send.text !== undefined || send.images !== undefined
  if (own || said.length === 0) said.push({ body: send, path: "" })
  const identity = { guest: send.guest, trusted: send.trusted, privileged: send.privileged }
  return said.map(({ body, path }) => {
    const sender = body.sender ?? send.sender
    const speaker = parts.speakerOf({ ...identity, sender })
    return {
      blocks: blocksOf(chat.id, { body, path }, parts),
      master: speaker.master,
      privileged: speaker.privileged,
      sender: speaker.sender,
      anchor: path === "" ? send.anchor : undefined,
      ext_id: body.ext_id,
      reply_to_ext_id: body.reply_to_ext_id,
      reply_to_text: body.reply_to_text,
      saidAt: body.at === undefined ? undefined : instant(body.at, `${path}at`),
    }
  })
}

function blocksOf(
  chatId: string,
  said: { body: BatchMessage; path: string },
  parts: AdmissionParts,
): Block[] {
  const { body, path } = said
  const text = cleanText(body.text ?? "")
  if (text.trim() === "" && !body.images?.length) {
    throw new KernelError("invalid", "a message needs text or images", { path: `${path}text` })
  }
  const images = (body.images ?? []).map((image, index) =>
    parts.acceptImage(image, chatId, `${path}images.${index}`),
  )
  // Speech that looks like the kernel's own marker would be taken for it: one space keeps it speech.
  const speech = isMachineText(text) ? ` ${text}` : text
  return [...(text.trim() === "" ? [] : [{ type: "text" as const, text: speech }]), ...images]
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

/** The spec of the turn that answers these utterances. Throws KernelError("invalid") for an unknown model. */
export function specOf(
  chat: Chat,
  send: Send,
  said: { utterances: readonly Utterance[]; parts: AdmissionParts },
): TurnSpec {
  const { utterances, parts } = said
  const known = send.model === undefined ? true : parts.isKnownModel(send.model)
  if (known !== true) throw new KernelError("invalid", known, { path: "model" })
  const last = utterances.at(-1)!
  const speaker = parts.speakerOf({
    sender: send.sender ?? last.sender,
    guest: send.guest,
    trusted: send.trusted,
    privileged: send.privileged,
  })
  // A turn that answers several people has the rights of the least of them.
  const master = speaker.master && utterances.every((utterance) => utterance.master)
  const privileged = speaker.privileged && utterances.every((utterance) => utterance.privileged)
  const { trusted } = speaker
  return {
    id: parts.newId(),
    chatId: chat.id,
    source: SOURCE_MESSAGE,
    identity: {
      master,
      trusted,
      privileged,
      anchored: send.anchor !== undefined,
      clientOps: false,
      agent: false,
      hasAgents: false,
      indexedNotes: false,
      planning: false,
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
    clientContext:
      trusted && send.context ? cutMiddle(send.context, CLIENT_CONTEXT_MAX_CHARS) : undefined,
    brief: send.brief === true,
    access: send.tools ? [{ source: "request", access: { kind: "only", names: send.tools } }] : [],
  }
}

/** What a chat without a title is called from its first message on. */
export const titleOf = (utterance: Utterance): string =>
  firstLine(textOf(utterance.blocks), TITLE_MAX_CHARS)

const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
