/**
 * Which results say nothing any more that does not stand further down: the same thing was read again, the same
 * call was made again, or the file was written since.
 */
import { MACHINE_TEXT, repeatedCallNote } from "../schema/machine-text.ts"
import type { Pair } from "./exchange.ts"
import { type Extent, type Footprint, footprintOf, type NamedPath } from "./footprint.ts"

/** Later queries that an older one is compared with. */
const QUERIES_MAX = 20

type Placed<T> = T & { at: number }

/** What was called so far, in order; each pair is known by its number. */
export class TrafficIndex {
  readonly #footprints: Footprint[] = []
  readonly #keys: string[] = []
  /** The last pair of each call that went well. */
  readonly #lastCalls = new Map<string, number>()
  readonly #extents = new Map<string, Placed<Extent>[]>()
  readonly #queries: Placed<{ lines: ReadonlySet<string> }>[] = []
  /** By the last part of the path. */
  readonly #written = new Map<string, Placed<NamedPath>[]>()

  /** The pair's number. */
  add(pair: Pair): number {
    const at = this.#footprints.length
    const footprint = footprintOf(pair)
    const key = `${pair.call.name} ${JSON.stringify(pair.call.input)}`
    this.#footprints.push(footprint)
    this.#keys.push(key)
    for (const path of footprint.written) push(this.#written, lastPart(path.path), { ...path, at })
    if (pair.result.is_error) return at
    this.#lastCalls.set(key, at)
    for (const extent of footprint.extents) push(this.#extents, extent.file, { ...extent, at })
    if (footprint.lines) this.#queries.push({ lines: footprint.lines, at })
    return at
  }

  /** What stands in place of the pair's result, since a later one holds all of it; undefined when none does. */
  coveredNote(at: number): string | undefined {
    return this.#isCovered(at) ? MACHINE_TEXT.repeated_read.marker : undefined
  }

  /** The same, since the call was made again. */
  repeatNote(at: number): string | undefined {
    const last = this.#lastCalls.get(this.#keys[at]!) ?? at
    return last > at ? repeatedCallNote : undefined
  }

  /** The same, since its file was written later. */
  staleNote(at: number): string | undefined {
    const isWritten = this.#footprints[at]!.read.some((path) =>
      this.#written
        .get(lastPart(path.path))
        ?.some((written) => written.at > at && mayBeSame(written, path)),
    )
    return isWritten ? MACHINE_TEXT.superseded_read.marker : undefined
  }

  #isCovered(at: number): boolean {
    const { extents, lines } = this.#footprints[at]!
    if (lines !== undefined && lines.size > 0) {
      return this.#queries
        .slice(-QUERIES_MAX)
        .some((later) => later.at > at && lines.isSubsetOf(later.lines))
    }
    return (
      extents.length > 0 &&
      extents.every(({ file, from, to }) =>
        this.#extents
          .get(file)
          ?.some((later) => later.at > at && later.from <= from && to <= later.to),
      )
    )
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** A relative path is the end of an absolute one; a needless second reading harms less than a stale one. */
function mayBeSame(a: NamedPath, b: NamedPath): boolean {
  if (a.on !== undefined && b.on !== undefined && a.on !== b.on) return false
  return a.path === b.path || a.path.endsWith(`/${b.path}`) || b.path.endsWith(`/${a.path}`)
}
