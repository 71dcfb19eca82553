/**
 * The screen over a session that holds nothing and fails: run as a program, to see what a fault of the
 * client leaves behind. The argument says where it strikes: `timer`, `draw` or `rejection`.
 */
import { runScreen } from "../../src/cli/chat/screen/run-screen.ts"
import type { Session, SessionState } from "../../src/cli/chat/session.ts"
import { systemClock } from "../../src/lib/clock.ts"

const STATE: SessionState = {
  connection: { state: "live" },
  kernel: { url: "http://127.0.0.1:1", version: "0" },
  chats: [],
  filter: {},
  folders: [],
  chat: undefined,
  items: [],
  hasOlder: false,
  turns: [],
  failures: [],
  activity: undefined,
  pending: [],
  usage: { promptTokens: 0, completionTokens: 0, cost: null, contextTokens: undefined },
  model: "none",
  effort: "off",
  models: undefined,
  notice: undefined,
}

const nothing = async (): Promise<void> => {}

function faultySession(where: string): Session {
  let isBroken = false
  let tell = () => {}
  const fail = () => {
    throw new Error("planted fault")
  }
  return {
    state: () => (isBroken && where === "draw" ? fail() : STATE),
    subscribe: (listener) => {
      tell = () => listener(new Set())
      return () => {}
    },
    // What is sent breaks it.
    send: async () => {
      isBroken = true
      if (where === "timer") setTimeout(fail)
      if (where === "rejection") void Promise.reject(new Error("planted fault"))
      tell()
    },
    ...{
      withdraw: () => undefined,
      undo: async () => "",
      compact: async () => "",
      context: async () => undefined,
      tell: () => {},
    },
    search: async () => [],
    rewind: async () => "",
    ...{ open: nothing, newChat: nothing, cancel: nothing, loadOlder: nothing, rename: nothing },
    ...{ move: nothing, fork: nothing, remove: nothing, restore: nothing, filter: nothing },
    ...{
      setModel: nothing,
      setEffort: nothing,
      decide: nothing,
      answer: nothing,
      dismissNotice: () => {},
      close: () => {},
    },
  }
}

const { exitCode, fault } = await runScreen({
  session: faultySession(process.argv[2] ?? "timer"),
  environment: process.env,
  clock: systemClock,
})
if (fault instanceof Error) process.stderr.write(`${fault.message}\n`)
process.exit(exitCode)
