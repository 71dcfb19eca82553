/**
 * Which results say nothing any more that does not stand further down: the same thing was read again, the same
 * call was made again, or the file was written since. Pairs are told from the newest to the oldest.
 */
import { canonicalJson } from "../lib/json.ts"
import { MACHINE_TEXT, repeatedCallNote } from "../schema/machine-text.ts"
import type { Pair } from "./exchange.ts"
import { type Extent, type Footprint, footprintOf, type NamedPath } from "./footprint.ts"

/** Later queries that an older one is compared with. */
const QUERIES_MAX = 20

export class LaterPairs {
  readonly #extents = new Map<string, Extent[]>()
  readonly #queries: ReadonlySet<string>[] = []
  readonly #calls = new Set<string>()
  /** By the last part of the path. */
  readonly #written = new Map<string, NamedPath[]>()

  /**
   * The note in place of the pair's result, judged by the pairs added so far, and adds the pair to them. `copies`
   * are looked for only where old traffic collapses, writes wherever a turn is over.
   */
  judge(pair: Pair, { copies, writes }: { copies: boolean; writes: boolean }): string | undefined {
    const footprint = footprintOf(pair)
    const key = canonicalJson([pair.call.name, pair.call.input])
    const note =
      (copies && this.#isCovered(footprint) && MACHINE_TEXT.repeated_read.marker) ||
      (writes && this.#isWritten(footprint) && MACHINE_TEXT.superseded_read.marker) ||
      (copies && this.#calls.has(key) && repeatedCallNote) ||
      undefined
    this.#add(pair, footprint, key)
    return note
  }

  #add({ result }: Pair, { extents, lines, written }: Footprint, key: string): void {
    for (const path of written) push(this.#written, lastPart(path.path), path)
    if (result.is_error) return
    this.#calls.add(key)
    for (const extent of extents) push(this.#extents, extent.file, extent)
    if (lines && this.#queries.length < QUERIES_MAX) this.#queries.push(lines)
  }

  #isCovered({ extents, lines }: Footprint): boolean {
    if (lines !== undefined && lines.size > 0) {
      return this.#queries.some((later) => lines.isSubsetOf(later))
    }
    return (
      extents.length > 0 &&
      extents.every(({ file, from, to }) =>
        this.#extents.get(file)?.some((later) => later.from <= from && to <= later.to),
      )
    )
  }

  #isWritten({ read }: Footprint): boolean {
    return read.some((path) =>
      this.#written.get(lastPart(path.path))?.some((written) => mayBeSame(written, path)),
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
