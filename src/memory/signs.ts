/**
 * Vectors of unit length and the signs of their parts. Signs are one bit each: the whole corpus of them is
 * small enough to stay in memory, and the number of equal signs tells which vectors are worth reading.
 */

const SIGNS_PER_WORD = 32

/** The vector at length one; undefined for one that has no direction. */
export function toUnit(values: ArrayLike<number>): Float32Array | undefined {
  const unit = Float32Array.from(values)
  const length = Math.sqrt(dot(unit, unit))
  if (!(length > 0) || !Number.isFinite(length)) return undefined
  for (let i = 0; i < unit.length; i++) unit[i]! /= length
  return unit
}

/** Eight sums that do not wait for each other: twice as fast as one. */
export function dot(a: Float32Array, b: Float32Array): number {
  const length = Math.min(a.length, b.length)
  const whole = length - (length % 8)
  let [s0, s1, s2, s3, s4, s5, s6, s7] = [0, 0, 0, 0, 0, 0, 0, 0]
  for (let i = 0; i < whole; i += 8) {
    s0 += a[i]! * b[i]!
    s1 += a[i + 1]! * b[i + 1]!
    s2 += a[i + 2]! * b[i + 2]!
    s3 += a[i + 3]! * b[i + 3]!
    s4 += a[i + 4]! * b[i + 4]!
    s5 += a[i + 5]! * b[i + 5]!
    s6 += a[i + 6]! * b[i + 6]!
    s7 += a[i + 7]! * b[i + 7]!
  }
  let rest = 0
  for (let i = whole; i < length; i++) rest += a[i]! * b[i]!
  return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + rest
}

/** One bit for each part of the vector that is above zero. */
export function signsOf(vector: Float32Array): Uint32Array {
  const signs = new Uint32Array(Math.ceil(vector.length / SIGNS_PER_WORD))
  for (let i = 0; i < vector.length; i++) {
    if (vector[i]! > 0) signs[i >> 5]! |= 1 << (i & 31)
  }
  return signs
}

export const toBlob = (values: Float32Array | Uint32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

/** The bytes at an address that arrays of four-byte numbers may begin at. */
export const fromBlob = (blob: Uint8Array): ArrayBuffer =>
  blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.byteLength) as ArrayBuffer

/** The signs of many vectors in one block of memory, each under the id of its record. */
export class SignMatrix {
  readonly #width: number
  #rows: Uint32Array
  #ids: number[] = []
  readonly #slots = new Map<number, number>()

  constructor(dimensions: number) {
    this.#width = Math.ceil(dimensions / SIGNS_PER_WORD)
    this.#rows = new Uint32Array(this.#width * 64)
  }

  get size(): number {
    return this.#ids.length
  }

  /** Vectors of another length are of another model and left out. */
  set(id: number, blob: Uint8Array): void {
    const signs = new Uint32Array(fromBlob(blob))
    if (signs.length !== this.#width) return
    const slot = this.#slots.get(id) ?? this.#append(id)
    this.#rows.set(signs, slot * this.#width)
  }

  /** The last row takes the place of the one that goes. */
  delete(id: number): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    const last = this.#ids.length - 1
    const lastId = this.#ids[last]!
    this.#rows.copyWithin(slot * this.#width, last * this.#width, (last + 1) * this.#width)
    this.#ids[slot] = lastId
    this.#slots.set(lastId, slot)
    this.#slots.delete(id)
    this.#ids.length = last
  }

  /** How far the signs of each row are from those of this vector. */
  compare(vector: Float32Array): SignDistances {
    const signs = signsOf(vector)
    const width = this.#width
    const rows = this.#rows
    const distances = new Uint16Array(this.#ids.length)
    for (let slot = 0; slot < distances.length; slot++) {
      const start = slot * width
      let differing = 0
      for (let word = 0; word < width; word++) {
        differing += bitCount(rows[start + word]! ^ signs[word]!)
      }
      distances[slot] = differing
    }
    return {
      nearest: (limit, allowed) => nearestOf(distances, this.#ids, { limit, allowed }),
      cosine: (id) => {
        const slot = this.#slots.get(id)
        // Two vectors differ in a sign as often as a random plane divides them: by their angle.
        return slot === undefined ? 0 : Math.cos((Math.PI * distances[slot]!) / vector.length)
      },
    }
  }

  #append(id: number): number {
    const slot = this.#ids.length
    if ((slot + 1) * this.#width > this.#rows.length) {
      const larger = new Uint32Array(this.#rows.length * 2)
      larger.set(this.#rows)
      this.#rows = larger
    }
    this.#ids.push(id)
    this.#slots.set(id, slot)
    return slot
  }
}

/** Good until the matrix changes. */
export interface SignDistances {
  /** The allowed ids whose signs agree most, about `limit` of them, in no order. */
  nearest(limit: number, allowed: (id: number) => boolean): number[]
  /** The cosine as the signs let expect it. */
  cosine(id: number): number
}

function nearestOf(
  distances: Uint16Array,
  ids: readonly number[],
  { limit, allowed }: { limit: number; allowed: (id: number) => boolean },
): number[] {
  const counts = new Uint32Array(0x10000)
  for (let slot = 0; slot < distances.length; slot++) counts[distances[slot]!]!++
  const found: number[] = []
  // Those that are not allowed take no place from others: the search goes on behind them.
  for (let most = limit; ; most *= 4) {
    const furthest = cutOff(counts, most)
    found.length = 0
    for (let slot = 0; slot < distances.length; slot++) {
      const id = ids[slot]!
      if (distances[slot]! <= furthest && allowed(id)) found.push(id)
    }
    if (found.length >= limit || most >= distances.length) return found
  }
}

/** The largest distance at which no more than about `limit` rows stand. */
function cutOff(counts: Uint32Array, limit: number): number {
  let seen = 0
  for (let distance = 0; distance < counts.length; distance++) {
    seen += counts[distance]!
    if (seen >= limit) return distance
  }
  return counts.length - 1
}

/** Bits that are set in 32: the classic sum in parallel (Hacker's Delight, figure 5-2). */
function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  bits = (bits + (bits >>> 4)) & 0x0f0f0f0f
  return Math.imul(bits, 0x01010101) >>> 24
}
