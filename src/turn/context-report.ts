/** What fills the prompt: the request that the master's next message would make, weighed piece by piece. */
import { exchangesIn } from "../context/exchange.ts"
import { stateText } from "../context/fragments/state.ts"
import { summaryText } from "../context/fragments/summary.ts"
import { systemPieces } from "../context/fragments/system.ts"
import type { ModelMessage } from "../llm/provider.ts"
import { planText } from "../plan/plan-text.ts"
import type { ContextReport, Weight } from "../schema/context-report.ts"
import { isMachineText } from "../schema/machine-text.ts"
import type { Block, Message } from "../schema/message.ts"
import { isClosed } from "../schema/plan.ts"
import { loadConversation } from "./load-conversation.ts"
import { notebookAhead } from "./notebook.ts"
import type { TurnParts } from "./parts.ts"
import { MASTER, prefixOf } from "./prefix.ts"
import { newestWords } from "./recall.ts"
import { SOURCE_MESSAGE } from "./spec.ts"
import { historyView } from "./step.ts"

/** Sorts behind every turn: all that is stored lies before it. */
const BEHIND_ALL = "~"

const BARE_STATE = {
  ...{ tripsLeft: undefined, ultrathink: false, squeezed: false },
  ...{ workdir: "", window: "", summary: "", memory: "", notebook: "", plan: "" },
}

/** Throws not_found for an unknown chat. */
export async function contextReport(
  parts: TurnParts,
  chatId: string,
): Promise<Omit<ContextReport, "last_trip">> {
  const { entry, system, tools } = prefixOf(parts, chatId)
  const { conversation, folded } = loadConversation(parts, {
    spec: { id: BEHIND_ALL, source: SOURCE_MESSAGE, identity: MASTER },
    chat: parts.chats.get(chatId),
    refusedMessages: new Set(),
  })
  const { past } = conversation
  const spec = { id: BEHIND_ALL }
  const shown = conversation.shown(historyView(parts, { spec }, entry.multimodal))
  const memory = await parts.recall({ message: "", previous: newestWords(past) }, MASTER)
  const { settings, clock, router } = parts
  const weigh = (name: string, text: string): Weight => ({
    name,
    bytes: Buffer.byteLength(text),
    tokens: router.tokens.text(entry.name, text),
  })

  const pieces = Object.entries(systemPieces(system)).map(([name, text]) => weigh(name, text))
  const specs = tools.map((tool) => weigh(tool.name, JSON.stringify(tool)))
  const history = [...jsonByKind(shown.messages)].map(([kind, json]) => weigh(kind, json))
  const traffic = sum(history.filter(({ name }) => name === "calls" || name === "results"))
  const now = settings.zone.local(clock.now())
  const told = {
    summary: folded ? summaryText(folded, settings.zone) : "",
    memory,
    notebook: notebookAhead(parts, chatId),
    plan: planText(parts.plans.ofChat(chatId).filter((task) => !isClosed(task))),
  }
  const state = [
    weigh("now", stateText({ ...BARE_STATE, now })),
    ...Object.entries(told).flatMap(([name, text]) => (text === "" ? [] : [weigh(name, text)])),
  ]
  const stable = sum([...pieces, ...specs, ...history])
  const total = sum([...pieces, ...specs, ...history, ...state])
  return {
    model: entry.name,
    context_window: entry.contextWindow ?? null,
    total,
    system: pieces,
    tools: specs.sort((a, b) => b.bytes - a.bytes),
    history,
    state,
    left_out_bytes: Math.max(0, storedTraffic(past) - traffic.bytes),
    stable_share: stable.bytes / total.bytes,
  }
}

const KINDS = {
  user: { text: "people", image: "pictures", tool_result: "results" },
  assistant: { text: "answers", tool_use: "calls" },
} as Record<ModelMessage["role"], Partial<Record<Block["type"], string>>>

/** What the kernel wrote in another's name is nobody's speech. */
const kindOf = (role: ModelMessage["role"], block: Block): string =>
  (block.type === "text" && isMachineText(block.text) ? undefined : KINDS[role][block.type]) ??
  "marks"

function jsonByKind(messages: readonly ModelMessage[]): Map<string, string> {
  const kinds = new Map<string, string>()
  for (const { role, blocks } of messages) {
    for (const block of blocks) {
      const kind = kindOf(role, block)
      kinds.set(kind, (kinds.get(kind) ?? "") + JSON.stringify(block))
    }
  }
  return kinds
}

/** Of calls and results as they are stored. */
const storedTraffic = (past: readonly Message[]): number =>
  exchangesIn(past)
    .flatMap(({ pairs }) => pairs)
    .reduce((sum, { call, result }) => sum + jsonBytes(call) + jsonBytes(result), 0)

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const sum = (weights: readonly Weight[]) => ({
  bytes: weights.reduce((total, { bytes }) => total + bytes, 0),
  tokens: weights.reduce((total, { tokens }) => total + tokens, 0),
})
