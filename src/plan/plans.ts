/**
 * The plan of the work at hand: what is not done yet, so that a long turn does not lose its second half. Only what is
 * unfinished lives on; a plan that is done is gone.
 */
import { parseJson } from "../lib/json.ts"
import { isClosed, type PlanTask } from "../schema/plan.ts"
import type { Store } from "../store/open.ts"
import { applyOp, NO_PLAN, type PlanOp, type PlanState } from "./apply.ts"
import { createPlanTable, type PlanTable } from "./store.ts"

export interface PlansOptions {
  store: Store
  /** Told of the whole plan once a change of it is on disk. */
  tell(chatId: string, tasks: PlanTask[]): void
}

export type Plans = ReturnType<typeof createPlans>

interface Room extends PlansOptions {
  rows: PlanTable
}

export function createPlans(options: PlansOptions) {
  const { store } = options
  const rows = createPlanTable(store.db)
  const room: Room = { ...options, rows }
  const ofChat = (chatId: string): PlanTask[] => [...stateOf(room, chatId).tasks]
  return {
    /** Empty: there is none. */
    ofChat,
    /** Something is left to do. */
    isOpen: (chatId: string): boolean => ofChat(chatId).some((task) => !isClosed(task)),
    /** The plan as it is now. Throws KernelError("invalid") in words for the model, and changes nothing then. */
    apply: (chatId: string, op: PlanOp): PlanTask[] =>
      store.write(() => write(room, chatId, applyOp(stateOf(room, chatId), op))),
    /** False when there was none. */
    erase: (chatId: string): boolean => store.write(() => erase(room, chatId)),
    /** A turn begins: what the one before closed is gone. */
    sweep: (chatId: string): void => {
      const { tasks, lastId } = stateOf(room, chatId)
      const left = tasks.filter((task) => !isClosed(task))
      if (left.length < tasks.length)
        store.write(() => write(room, chatId, { tasks: left, lastId }))
    },
    /** A turn ends: a plan of which nothing is left is gone. */
    finish: (chatId: string): void => {
      const tasks = ofChat(chatId)
      if (tasks.length > 0 && tasks.every(isClosed)) store.write(() => erase(room, chatId))
    },
    /** A branch goes on with a copy. */
    follower: {
      forked: ({ from, to }: { from: string; to: string }): void => rows.copy(from, to),
    },
  }
}

function stateOf({ rows }: Room, chatId: string): PlanState {
  const row = rows.find(chatId)
  return row ? { tasks: parseJson(row.tasks) as PlanTask[], lastId: row.last_id } : NO_PLAN
}

function write(room: Room, chatId: string, { tasks, lastId }: PlanState): PlanTask[] {
  if (tasks.length === 0) {
    erase(room, chatId)
    return []
  }
  room.rows.put(chatId, { tasks: JSON.stringify(tasks), last_id: lastId })
  room.store.afterCommit(() => room.tell(chatId, [...tasks]))
  return [...tasks]
}

function erase({ rows, store, tell }: Room, chatId: string): boolean {
  const wasThere = rows.remove(chatId)
  if (wasThere) store.afterCommit(() => tell(chatId, []))
  return wasThere
}
