/**
 * Which call a fragment belongs to. Upstreams disagree on everything here: ids only in the first delta, ids
 * never, no index, the same index for every call. A bare fragment of arguments never opens a call.
 */

export interface CallFragment {
  index?: unknown
  id?: unknown
  name?: unknown
}

interface OpenCall {
  index: number
  /** The upstream's own index. */
  given: number | undefined
  id: string
  name: string
}

/** Where the fragment goes: our own dense index, and the id and name that are news. */
export interface CallPlace {
  index: number
  id?: string
  name?: string
}

export function createCallJoiner() {
  const calls: OpenCall[] = []

  const find = (fragment: CallFragment, id: string, name: string): OpenCall | undefined => {
    const byId = id ? calls.findLast((call) => call.id === id) : undefined
    if (byId) return byId
    if (typeof fragment.index !== "number") {
      // No index: a name opens a call, anything else goes on with the last one.
      return name && !(id === "" && calls.at(-1)?.name === "") ? undefined : calls.at(-1)
    }
    const byIndex = calls.findLast((call) => call.given === fragment.index)
    // A second id with a name of its own under one index is a second call.
    const another = byIndex && id && byIndex.id && name
    return another ? undefined : byIndex
  }

  const place = (fragment: CallFragment): CallPlace => {
    const id = typeof fragment.id === "string" ? fragment.id : ""
    const name = typeof fragment.name === "string" ? fragment.name : ""
    const found = find(fragment, id, name)
    const call = found ?? {
      index: calls.length,
      given: typeof fragment.index === "number" ? fragment.index : undefined,
      id: "",
      name: "",
    }
    if (!found) calls.push(call)
    const place: CallPlace = { index: call.index }
    if (id && !call.id) place.id = call.id = id
    if (name && !call.name) place.name = call.name = name
    return place
  }

  return { place, count: () => calls.length }
}
