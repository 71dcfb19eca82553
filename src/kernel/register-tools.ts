/** Every tool of the kernel, then those of the user: where two bear one name, the kernel's stays. */
import type { Chats } from "../chats/chats.ts"
import { chatTools } from "../chats/tools.ts"
import { type CodeTaskParts, codeTaskTool } from "../code/code-task.ts"
import type { Config } from "../config/schema.ts"
import { loadExternalTools } from "../ext/load.ts"
import type { History } from "../history/history.ts"
import { historyTools } from "../history/tools.ts"
import type { Environment } from "../lib/environment.ts"
import type { Log } from "../lib/log.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import type { Router } from "../llm/router.ts"
import type { Memories } from "../memory/memories.ts"
import { memoryTools } from "../memory/tools.ts"
import { createGuardedFetch } from "../net/guarded-fetch.ts"
import type { Persons } from "../persons/persons.ts"
import { personTools } from "../persons/tools.ts"
import type { Spend } from "../spend/spend.ts"
import { spendTools } from "../spend/tools.ts"
import type { Store } from "../store/open.ts"
import type { Registry } from "../tools/registry.ts"
import type { Tool } from "../tools/tool.ts"
import type { Turns } from "../turn/turns.ts"
import { webTools } from "../web/tools.ts"
import type { Files } from "./files.ts"
import type { Shell } from "./shell.ts"

export interface ToolRooms {
  config: Config
  environment: Environment
  log: Log
  persons: Persons
  memories: Memories
  files: Pick<Files, "tools">
  shell: Pick<Shell, "tools">
  turns: Turns
  router: Router
  spend: Pick<Spend, "record" | "stats">
  chats: Chats
  history: History
  zone: TimeZone
  store: Pick<Store, "write">
}

export async function registerTools(registry: Registry, rooms: ToolRooms): Promise<void> {
  const { config, environment, log, persons, memories, files, shell, turns } = rooms
  registry.registerAll(personTools(persons))
  registry.registerAll(memoryTools(memories))
  registry.registerAll(files.tools)
  registry.registerAll(shell.tools)
  registry.registerAll(webToolsOf(config))
  registry.registerAll(turns.tools)
  registry.registerAll(pastTools(rooms))
  registry.registerAll(codeTools(rooms))
  const external = await loadExternalTools({ dir: config.tools.dir, log, environment })
  registry.registerAll(external.tools)
}

/** What was said in chats, what becomes of them, and what it cost. */
function pastTools({ config, chats, history, persons, spend, zone }: ToolRooms): Tool[] {
  return [
    ...historyTools({ history, personName: (id) => persons.get(id)?.name }),
    ...chatTools({ chats, problemFolder: config.chats.problem_folder }),
    ...spendTools({ spend, zoneName: zone.name }),
  ]
}

/** Only with a model for it. */
function codeTools({ config, router, spend, store }: ToolRooms): Tool[] {
  const { code_model: model, max_tokens: maxTokens } = config.llm
  if (model === undefined) return []
  const record: CodeTaskParts["record"] = (trip) => store.write(() => spend.record(trip))
  return [codeTaskTool({ router, model, maxTokens, record })]
}

const webToolsOf = ({ web }: Config): Tool[] =>
  webTools(createGuardedFetch({ allowPrivateHosts: web.allow_private_hosts }))
