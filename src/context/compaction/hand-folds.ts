/** Folds that somebody asks for, whatever the thresholds say: a client, or the agent within its turn. */
import type { Config } from "../../config/schema.ts"
import type { Models } from "../../llm/models.ts"
import type { Chat } from "../../schema/chat.ts"
import { compactProfile } from "../profile.ts"
import type { TrafficSettings } from "../traffic.ts"
import { trafficSettings } from "../traffic-settings.ts"
import type { Compaction, FoldRequest, FoldResult } from "./compaction.ts"

export interface HandFoldsParts {
  compaction: Compaction
  /** Throws not_found. */
  chat(id: string): Chat
  models: Models
  context: Config["context"]
  traits: TrafficSettings["traits"]
}

/** In a turn, with its id and what started it. */
export type Asked = Pick<FoldRequest, "signal" | "turn" | "progress"> & { source?: string }

export type HandFolds = ReturnType<typeof createHandFolds>

export function createHandFolds({ compaction, chat, models, context, traits }: HandFoldsParts) {
  const requestFor = (chatId: string, { source = "message", ...asked }: Asked) => {
    const { model, ...set } = chat(chatId)
    return {
      ...{ chatId, ...asked },
      model: model ?? models.roles.general,
      profile: compactProfile(context, set, source),
      traffic: trafficSettings(context, traits, set.surface !== null),
    }
  }
  return {
    /** Everything but the newest words of a person and what followed them. Throws not_found. */
    fold: (chatId: string, asked: Asked): Promise<FoldResult> =>
      compaction.fold({
        ...requestFor(chatId, asked),
        plan: { keepTokens: 0, atLeast: "move" },
        insist: true,
      }),
    /** Throws not_found. */
    rebuild: (chatId: string, asked: Asked): Promise<FoldResult> =>
      compaction.rebuild(requestFor(chatId, asked)),
  }
}
