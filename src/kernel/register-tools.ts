/** Every tool of the kernel, then those of the user: where two bear one name, the kernel's stays. */
import type { Chats } from "../chats/chats.ts"
import { checkWorkdir } from "../chats/settings.ts"
import type { Summaries } from "../chats/summaries.ts"
import { chatTools } from "../chats/tools.ts"
import { codeTaskTool } from "../code/code-task.ts"
import type { Config } from "../config/schema.ts"
import type { HandFolds } from "../context/compaction/hand-folds.ts"
import { compactionTools } from "../context/compaction/tools.ts"
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
import type { Notebook } from "../notebook/notebook.ts"
import type { Rebuilds } from "../notebook/rebuild.ts"
import { notebookTools } from "../notebook/tools.ts"
import type { Persons } from "../persons/persons.ts"
import { personTools } from "../persons/tools.ts"
import type { Plans } from "../plan/plans.ts"
import { planTools } from "../plan/tools.ts"
import type { Skills } from "../skills/skills.ts"
import { skillTools } from "../skills/tools.ts"
import type { Sleep } from "../sleep/sleep.ts"
import { consolidateTool } from "../sleep/tools.ts"
import type { Spend } from "../spend/spend.ts"
import { spendTools } from "../spend/tools.ts"
import type { Store } from "../store/open.ts"
import { createOffload, type Offload } from "../tools/offload.ts"
import type { Registry } from "../tools/registry.ts"
import type { Tool } from "../tools/tool.ts"
import { toolsetTools } from "../toolsets/tools.ts"
import type { Toolsets } from "../toolsets/toolsets.ts"
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
  sleep: Pick<Sleep, "start">
  files: Pick<Files, "tools">
  shell: Pick<Shell, "tools">
  turns: Turns
  skills: Skills
  toolsets: Toolsets
  router: Router
  spend: Pick<Spend, "record" | "stats">
  chats: Chats
  history: History
  summaries: Summaries
  folds: HandFolds
  notebook: Notebook
  noteRebuilds: Rebuilds
  plans: Plans
  zone: TimeZone
  store: Pick<Store, "write">
}

export async function registerTools(registry: Registry, rooms: ToolRooms): Promise<void> {
  const { config, environment, log, persons, memories, files, shell, turns, skills } = rooms
  const { router, spend, store } = rooms
  registry.registerAll(personTools(persons))
  registry.registerAll([...memoryTools(memories), consolidateTool(rooms.sleep)])
  registry.registerAll(files.tools)
  registry.registerAll(shell.tools)
  registry.registerAll(webToolsOf(config))
  registry.registerAll(turns.tools)
  registry.registerAll(planTools(rooms))
  registry.registerAll(pastTools(rooms))
  if (config.notes.enabled) {
    registry.registerAll(
      notebookTools({ ...rooms, rebuilds: rooms.noteRebuilds, viewOf: turns.notesOf }),
    )
  }
  const offload = createOffload({
    router,
    maxTokens: config.llm.max_tokens,
    record: (trip) => store.write(() => spend.record(trip)),
  })
  registry.registerAll(skillTools({ skills, offload }))
  registry.registerAll(setTools(registry, rooms, offload))
  registry.registerAll(codeTools(config, offload))
  const external = await loadExternalTools({ dir: config.tools.dir, log, environment })
  registry.registerAll(external.tools)
}

/** What was said in chats, what becomes of them, and what it cost. */
function pastTools(rooms: ToolRooms): Tool[] {
  const { config, chats, history, summaries, folds, persons, spend, zone, notebook } = rooms
  return [
    ...historyTools({ history, personName: (id) => persons.get(id)?.name }),
    ...compactionTools({ folds, summaries, chats }),
    ...chatTools({ chats, problemFolder: config.chats.problem_folder, notesIn: notebook.count }),
    ...spendTools({ spend, zoneName: zone.name }),
  ]
}

const setTools = (
  registry: Registry,
  { toolsets, turns, chats, router }: ToolRooms,
  offload: Offload,
): Tool[] =>
  toolsetTools({
    ...{ registry, toolsets, offload, checkWorkdir },
    levers: turns.leversOf,
    pin: chats.setToolset,
    fastModel: router.models.roles.fastest,
  })

/** Only with a model for it. */
const codeTools = ({ llm: { code_model: model } }: Config, offload: Offload): Tool[] =>
  model === undefined ? [] : [codeTaskTool({ model, offload })]

const webToolsOf = ({ web }: Config): Tool[] =>
  webTools(createGuardedFetch({ allowPrivateHosts: web.allow_private_hosts }))
