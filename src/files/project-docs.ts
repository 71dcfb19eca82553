/**
 * What a project says about itself: every AGENTS.md from its root down to the working directory, and its
 * `.eva/MEMORY.md`. One logic for all machines; how a folder is looked at and a file read is the machine's own.
 */

/** A folder and which of the wanted names are in it. */
export interface ProjectLevel {
  dir: string
  found: readonly string[]
}

export interface ProjectReader {
  /** From the path upwards to the root of the file system. */
  listUp(path: string, names: readonly string[]): Promise<readonly ProjectLevel[]>
  /** The beginning of a file; undefined when it cannot be read. */
  read(path: string, size: number): Promise<{ total: number; bytes: Uint8Array } | undefined>
}

export interface ProjectSettings {
  /** Names that tell a project's root; an empty list looks at the working directory alone. */
  rootMarkers: readonly string[]
  /** Bytes of all AGENTS.md together; 0 gathers nothing. */
  maxBytes: number
  memoryMaxBytes: number
}

export interface ProjectDoc {
  path: string
  /** As far as it was read. */
  text: string
  /** Bytes of the whole file, and of what was read. */
  total: number
  read: number
}

/** The root's first, the nearest last. */
export interface ProjectDocs {
  docs: readonly ProjectDoc[]
  memory: ProjectDoc | undefined
}

const DOC = "AGENTS.md"
/** Stands in for its neighbour. */
const OVERRIDE = "AGENTS.override.md"
/** Looked for by its folder: not every machine looks into one for a name. */
const MEMORY_FOLDER = ".eva"
const MEMORY = `${MEMORY_FOLDER}/MEMORY.md`

/** The names that are read, for a machine that reads all in one trip. */
export const PROJECT_DOC_NAMES: readonly string[] = [DOC, OVERRIDE, MEMORY]

export async function readProjectDocs(
  reader: ProjectReader,
  workdir: string,
  settings: ProjectSettings,
): Promise<ProjectDocs> {
  const { rootMarkers, maxBytes, memoryMaxBytes } = settings
  if (maxBytes === 0 && memoryMaxBytes === 0) return { docs: [], memory: undefined }
  const names = [...new Set([DOC, OVERRIDE, MEMORY_FOLDER, ...rootMarkers])]
  const levels = projectLevels(await reader.listUp(workdir, names), rootMarkers)
  const wanted = levels.toReversed().flatMap(({ dir, found }) => {
    const name = [OVERRIDE, DOC].find((each) => found.includes(each))
    return name === undefined ? [] : [join(dir, name)]
  })
  const memories = levels.filter(({ found }) => found.includes(MEMORY_FOLDER))
  const docs: ProjectDoc[] = []
  if (maxBytes > 0) {
    for (const path of wanted) {
      const doc = await readDoc(reader, path, maxBytes)
      if (doc) docs.push(doc)
    }
  }
  return { docs, memory: await nearestMemory(reader, memories, memoryMaxBytes) }
}

async function nearestMemory(
  reader: ProjectReader,
  levels: readonly ProjectLevel[],
  maxBytes: number,
): Promise<ProjectDoc | undefined> {
  if (maxBytes === 0) return undefined
  for (const { dir } of levels) {
    const memory = await readDoc(reader, join(dir, MEMORY), maxBytes)
    if (memory) return memory
  }
  return undefined
}

/** From the working directory up to the first level with a marker; itself alone when there is none. */
function projectLevels(
  levels: readonly ProjectLevel[],
  rootMarkers: readonly string[],
): readonly ProjectLevel[] {
  const root = levels.findIndex(({ found }) => rootMarkers.some((marker) => found.includes(marker)))
  return levels.slice(0, Math.max(0, root) + 1)
}

const join = (dir: string, name: string): string => `${dir.replace(/\/$/, "")}/${name}`

async function readDoc(
  reader: ProjectReader,
  path: string,
  maxBytes: number,
): Promise<ProjectDoc | undefined> {
  const piece = await reader.read(path, maxBytes)
  if (!piece) return undefined
  const text = wholeCharacters(piece.bytes)
  // What says nothing takes no room.
  if (text.trim() === "") return undefined
  return { path, text, total: piece.total, read: piece.bytes.length }
}

/** UTF-8 without its mark, and without a character that the end of the piece cut. */
const wholeCharacters = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes, { stream: true })
