/** What the agent keeps at hand in each chat: its plan, and its notebook with what rebuilds it. */
import type { Chats } from "../chats/chats.ts"
import type { ChatFollower } from "../chats/follower.ts"
import type { Summaries } from "../chats/summaries.ts"
import type { Config } from "../config/schema.ts"
import type { Clock } from "../lib/clock.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { Router } from "../llm/router.ts"
import { createNotebook, type Notebook } from "../notebook/notebook.ts"
import { createRebuilds, type Rebuilds } from "../notebook/rebuild.ts"
import { createPlans, type Plans } from "../plan/plans.ts"
import type { PlanTask } from "../schema/plan.ts"
import type { Spend } from "../spend/spend.ts"
import type { Store } from "../store/open.ts"
import type { TurnParts } from "../turn/parts.ts"

export interface DeskOptions {
  config: Config
  store: Store
  clock: Clock
  newId: NewId
  log: Log
  router: Router
  summaries: Pick<Summaries, "get">
  spend: Pick<Spend, "record">
  chat: Chats["get"]
  tellPlan(chatId: string, tasks: PlanTask[]): void
}

export interface Desk {
  notebook: Notebook
  noteRebuilds: Rebuilds
  plans: Plans
  followers: ChatFollower[]
  /** The notebook as turns know it; undefined when the agent is to keep no notebook. */
  ofTurns: TurnParts["notebook"]
}

export function createDesk(options: DeskOptions): Desk {
  const { config, store, clock, newId, log, router, summaries, spend, chat } = options
  const notebook = createNotebook({ store, clock, newId, settings: config.notes })
  const noteRebuilds = createRebuilds({
    ...{ notebook, router, clock, newId, log },
    modelOf: (chatId) => chat(chatId).model ?? router.models.roles.general,
    summaryOf: (chatId) => summaries.get(chatId)?.text,
    recordSpend: (trip) => store.write(() => spend.record(trip)),
  })
  const ofTurns = config.notes.enabled ? { ...notebook, tidy: noteRebuilds.whenDue } : undefined
  const plans = createPlans({ store, tell: options.tellPlan })
  const followers = [notebook.follower, plans.follower]
  return { notebook, noteRebuilds, plans, followers, ofTurns }
}
