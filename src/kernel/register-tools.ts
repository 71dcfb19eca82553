/** Every tool of the kernel, then those of the user: where two bear one name, the kernel's stays. */
import type { Config } from "../config/schema.ts"
import { loadExternalTools } from "../ext/load.ts"
import type { Environment } from "../lib/environment.ts"
import type { Log } from "../lib/log.ts"
import type { Persons } from "../persons/persons.ts"
import { personTools } from "../persons/tools.ts"
import type { Registry } from "../tools/registry.ts"
import type { Turns } from "../turn/turns.ts"
import type { Files } from "./files.ts"

export interface ToolRooms {
  config: Config
  environment: Environment
  log: Log
  persons: Persons
  files: Pick<Files, "tools">
  turns: Turns
}

export async function registerTools(registry: Registry, rooms: ToolRooms): Promise<void> {
  const { config, environment, log, persons, files, turns } = rooms
  registry.registerAll(personTools(persons))
  registry.registerAll(files.tools)
  registry.registerAll(turns.tools)
  const external = await loadExternalTools({ dir: config.tools.dir, log, environment })
  registry.registerAll(external.tools)
}
