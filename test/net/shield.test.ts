/** The shield before private networks: public cases, and real servers on this machine. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseJson } from "../../src/lib/json.ts"
import { isPublicAddress } from "../../src/net/address.ts"
import {
  checkedAddresses,
  createGuardedFetch,
  GuardedFetchError,
  type Lookup,
  readUrl,
} from "../../src/net/guarded-fetch.ts"

const DATA = join(import.meta.dir, "../../../shared/data/ssrf/cases.jsonl")

interface Case {
  id: string
  type: "url" | "ip"
  input: string
  expect: "block" | "allow" | "reject"
  dns?: Record<string, string[]>
  redirect?: { location: string }
  contested?: boolean
}

/**
 * Judged otherwise: the address is 127.0.0.1 in the old way of writing IPv4 into IPv6. The set blocks
 * ::127.0.0.0 and its like as addresses, and so does the shield.
 */
const JUDGED_OTHERWISE = new Set(["http://[::127.0.0.1]"])

async function verdict({ type, input, dns = {}, redirect }: Case): Promise<Case["expect"]> {
  if (type === "ip") return isPublicAddress(input) ? "allow" : "block"
  const lookup: Lookup = async (host) =>
    (dns[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  try {
    for (const text of [input, ...(redirect ? [redirect.location] : [])])
      await checkedAddresses(readUrl(text), { allowPrivateHosts: [], lookup })
    return "allow"
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    return error.isBlocked ? "block" : "reject"
  }
}

if (!existsSync(DATA)) process.stderr.write("skipped: there are no public cases of the shield\n")
describe.skipIf(!existsSync(DATA))("public cases", () => {
  test("TWEB-3 SEC-27: every form that must be stopped is, and every other passes", async () => {
    const cases = readFileSync(DATA, "utf8")
      .trim()
      .split("\n")
      .map((line) => parseJson(line) as Case)
    const wrong: string[] = []
    for (const each of cases) {
      if (each.contested || JUDGED_OTHERWISE.has(each.input)) continue
      const told = await verdict(each)
      // What cannot be read as a URL is stopped, whichever of the two ways.
      const isRight = each.expect === "allow" ? told === "allow" : told !== "allow"
      if (!isRight) wrong.push(`${each.id} ${each.input}: ${told}, not ${each.expect}`)
    }
    expect(wrong).toEqual([])
    expect(cases.length).toBeGreaterThan(400)
  })
})

let server: ReturnType<typeof Bun.serve>
let here: string
const redirects: Record<string, string> = {
  "/to-metadata": "http://169.254.169.254/latest/",
  "/to-decimal": "http://2130706433/",
  "/to-file": "file:///etc/passwd",
  "/loop": "/loop",
}
beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const location = redirects[pathname]
      if (location) return new Response(null, { status: 302, headers: { location } })
      if (pathname === "/elsewhere") {
        const port = new URL(request.url).port
        return Response.redirect(`http://other.test:${port}/headers`)
      }
      if (pathname === "/bomb") {
        const body = Bun.gzipSync(new Uint8Array(50_000_000))
        return new Response(body, { headers: { "content-encoding": "gzip" } })
      }
      if (pathname === "/endless") {
        const pull = (control: ReadableStreamDefaultController) =>
          control.enqueue(new Uint8Array(1000))
        return new Response(new ReadableStream({ pull }))
      }
      if (pathname === "/silent") return new Response(new ReadableStream({}))
      return Response.json(Object.fromEntries(request.headers))
    },
  })
  here = `127.0.0.1:${server.port}`
})
afterAll(() => server.stop(true))

const LIMITS = { maxBytes: 100_000, timeoutMs: 20_000, signal: new AbortController().signal }

function fetcher(allowed: string[], names: Record<string, string[]> = {}) {
  const asked: string[] = []
  const lookup: Lookup = async (host) => {
    asked.push(host)
    return (names[host] ?? []).map((address) => ({ address, family: 4 }))
  }
  const fetch = createGuardedFetch({ allowPrivateHosts: allowed, lookup })
  const problem = (url: string) =>
    fetch(url, LIMITS).then(
      ({ status }) => `status ${status}`,
      (error: Error) => error.message,
    )
  return { fetch, problem, asked }
}

test("TWEB-5 SEC-29: only what is listed is reached, a host with any port or with one", async () => {
  const url = `http://${here}/`
  expect(await fetcher([]).problem(url)).toBe(
    "127.0.0.1 is not on the public internet; the master can allow it in web.allow_private_hosts",
  )
  expect(await fetcher(["127.0.0.1"]).problem(url)).toBe("status 200")
  expect(await fetcher([here]).problem(url)).toBe("status 200")
  expect(await fetcher(["127.0.0.1:1"]).problem(url)).toContain("not on the public internet")
})

test("TWEB-4 SEC-28: every hop of a redirect is checked, addresses and schemes alike", async () => {
  const { problem } = fetcher([here])
  expect(await problem(`http://${here}/to-metadata`)).toContain(
    "169.254.169.254 is not on the public",
  )
  expect(await problem(`http://${here}/to-decimal`)).toContain("127.0.0.1 is not on the public")
  expect(await problem(`http://${here}/to-file`)).toBe("only http and https are fetched, not file:")
  expect(await problem(`http://${here}/loop`)).toContain("without an end")
})

test("a name is resolved once for a connection, and that address is the one connected to", async () => {
  // The second answer would be another one, as with a name that is bound anew.
  let answers = 0
  const lookup: Lookup = async () => {
    answers++
    return [{ address: answers === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }]
  }
  const fetch = createGuardedFetch({ allowPrivateHosts: ["bound.test"], lookup })
  const reply = await fetch(`http://bound.test:${server.port}/`, LIMITS)
  expect([reply.status, answers]).toEqual([200, 1])
  expect(parseJson(new TextDecoder().decode(reply.body))).toMatchObject({
    host: `bound.test:${server.port}`,
  })
})

test("one private address among public ones stops the name", async () => {
  const { problem } = fetcher([], { "mixed.test": ["93.184.216.34", "10.0.0.1"] })
  expect(await problem("http://mixed.test/")).toBe(
    "mixed.test (10.0.0.1) is not on the public internet; the master can allow it in web.allow_private_hosts",
  )
})

test("what was meant for one server is not told to the next", async () => {
  const { fetch } = fetcher([here, "other.test"], { "other.test": ["127.0.0.1"] })
  const headers = { authorization: "Bearer x", "x-api-key": "y", "user-agent": "eva" }
  const { body, url } = await fetch(`http://${here}/elsewhere`, { ...LIMITS, headers })
  const seen = parseJson(new TextDecoder().decode(body)) as Record<string, string>
  expect(url).toBe(`http://other.test:${server.port}/headers`)
  expect([seen["user-agent"], seen.authorization, seen["x-api-key"]]).toEqual([
    "eva",
    undefined,
    undefined,
  ])
})

test("what unpacks to much, never ends or never begins is bounded", async () => {
  const { fetch } = fetcher([here])
  for (const path of ["/bomb", "/endless"]) {
    const { body, truncated } = await fetch(`http://${here}${path}`, LIMITS)
    expect([path, body.length, truncated]).toEqual([path, 100_000, true])
  }
  const late = await fetch(`http://${here}/silent`, { ...LIMITS, timeoutMs: 300 }).catch(
    (error: Error) => error.message,
  )
  expect(late).toBe(`http://${here}/silent did not answer within 0.3 s`)
})

test("a name server that never answers is left behind", async () => {
  const asked = Promise.withResolvers<void>()
  const lookup: Lookup = () => {
    asked.resolve()
    return new Promise(() => {})
  }
  const fetch = createGuardedFetch({ allowPrivateHosts: [], lookup })
  const late = fetch("http://silent.test/", { ...LIMITS, timeoutMs: 50 })
  expect(await late.catch((error: Error) => error.message)).toBe(
    "http://silent.test/ did not answer within 0.05 s",
  )
  const stop = new AbortController()
  const stopped = fetch("http://silent.test/", { ...LIMITS, signal: stop.signal })
  await asked.promise
  stop.abort(new Error("cancelled"))
  expect(await stopped.catch((error: Error) => error.message)).toBe("cancelled")
})

test("a proxy of the environment is not asked", async () => {
  const script = `
    import { createGuardedFetch } from ${JSON.stringify(join(import.meta.dir, "../../src/net/guarded-fetch.ts"))}
    const fetch = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"] })
    const signal = new AbortController().signal
    const { status } = await fetch("http://${here}/", { maxBytes: 10, timeoutMs: 20000, signal })
    process.stdout.write(String(status))`
  const proxy = "http://127.0.0.1:9"
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { PATH: process.env.PATH, HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy },
    stdout: "pipe",
    stderr: "inherit",
  })
  expect(await new Response(child.stdout).text()).toBe("200")
})
