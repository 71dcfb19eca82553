/** Pages as a model reads them, from real servers, through the front door. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { pageText } from "../../src/web/html-text.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

const PAGE = `<!doctype html><html><head><title> Boats &amp;
 harbours </title><style>p { color: red }</style></head><body>
<nav><a href="/menu">Menu</a></nav>
<main><h1>Boats</h1><p>A <b>boat</b> needs a <a href="/harbour?near=1">harbour</a>,<br>and paint.
<script>alert("never")</script></p>
<ul><li>hull<li>rig <ol><li>mast</li><li>halyard</li></ol></ul>
<table><tr><th>name</th><th>length</th></tr><tr><td>Ada</td><td>9 m</td></tr></table>
<pre>knots = 4
  drift = 1</pre><p>${"Words about boats. ".repeat(12)}</p>
<a href="#top">up</a> <a href="javascript:void(0)">run</a></main>
<footer>Imprint</footer></body></html>`

const russian = (encode: (text: string) => Uint8Array, head: string) =>
  encode(`<html><head>${head}<title>Лодки</title></head><body><p>Лодка и гавань</p></body></html>`)

/** Only these letters are needed. */
const windows1251 = (text: string): Uint8Array =>
  Uint8Array.from(text, (char) => {
    const code = char.charCodeAt(0)
    return code >= 0x410 && code <= 0x44f ? code - 0x350 : code
  })

const replies: Record<string, () => Response> = {
  "/page": () => html(PAGE),
  "/cp1251-header": () =>
    new Response(russian(windows1251, ""), {
      headers: { "content-type": "text/html; charset=windows-1251" },
    }),
  "/cp1251-meta": () =>
    new Response(russian(windows1251, '<meta charset="windows-1251">'), {
      headers: { "content-type": "text/html" },
    }),
  "/json": () => Response.json({ name: "Ada", crew: ["я"] }),
  "/binary": () =>
    new Response(new Uint8Array(5000), { headers: { "content-type": "application/pdf" } }),
  "/missing": () => new Response("<p>No such boat</p>", { status: 404, headers: TYPE }),
  "/long": () => html(`<p>${Array.from({ length: 4000 }, (_, n) => `word${n}`).join("<br>")}</p>`),
  "/deep": () => html(`${"<div>".repeat(50_000)}deep inside`),
  "/empty": () => html("<html><body></body></html>"),
}
const TYPE = { "content-type": "text/html" }
const html = (text: string) =>
  new Response(text, { headers: { "content-type": "text/html; charset=utf-8" } })

let server: ReturnType<typeof Bun.serve>
let here: string
let kernel: TestKernel
beforeAll(async () => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => replies[new URL(url).pathname]?.() ?? new Response("", { status: 500 }),
  })
  here = `127.0.0.1:${server.port}`
  kernel = await testKernel({ config: { web: { allow_private_hosts: [here] } } })
})
afterEach(() => {
  kernel.requests.length = 0
})
afterAll(async () => {
  await kernel.dispose()
  await server.stop(true)
})

async function fetched(input: object): Promise<{ output: string; is_error: boolean }> {
  const events = await kernel.turn(
    kernel.newChat(),
    plan([{ call: "web_fetch", input }, { say: "read" }]),
  )
  const result = events.find(({ type }) => type === "tool_result")
  if (result?.type !== "tool_result") throw new Error("no result")
  return { output: result.output, is_error: result.is_error }
}
const page = async (path: string, more: object = {}) =>
  (await fetched({ url: `http://${here}${path}`, ...more })).output

test("TWEB-2: a page is its title, its address, its words and its links, without menus and scripts", async () => {
  expect(await page("/page")).toBe(`# Boats & harbours
http://${here}/page

# Boats

A boat needs a [harbour](http://${here}/harbour?near=1),
and paint.

- hull
- rig
  1. mast
  2. halyard

name | length
Ada | 9 m

\`\`\`
knots = 4
  drift = 1
\`\`\`

${"Words about boats. ".repeat(12).trim()}

up run`)
})

test("the encoding is the server's word, else the page's", async () => {
  for (const path of ["/cp1251-header", "/cp1251-meta"])
    expect(await page(path)).toBe(`# Лодки\nhttp://${here}${path}\n\nЛодка и гавань`)
})

test("text of other kinds comes as it is, bytes do not", async () => {
  expect(await page("/json")).toBe(`http://${here}/json\n\n{"name":"Ada","crew":["я"]}`)
  expect(await fetched({ url: `http://${here}/binary` })).toEqual({
    output: `http://${here}/binary is no text: application/pdf, 5000 bytes`,
    is_error: true,
  })
})

test("a long page comes in pieces that join", async () => {
  const words: string[] = []
  let offset = 0
  for (let piece = 0; piece < 10; piece++) {
    const text = await page("/long", { offset })
    words.push(...text.split("\n").filter((line) => line.startsWith("word")))
    const next = /read on with offset (\d+)\]$/.exec(text)?.[1]
    if (next === undefined) break
    offset = Number(next)
  }
  expect(words).toEqual(Array.from({ length: 4000 }, (_, n) => `word${n}`))
  expect((await fetched({ url: `http://${here}/long`, offset: 1e9 })).output).toContain(
    "offset 1000000000 is behind the end",
  )
})

test("SEC-26: what the shield stops and what fails says why, and who could allow it", async () => {
  expect(await fetched({ url: "http://169.254.169.254/latest/meta-data" })).toEqual({
    output:
      "169.254.169.254 is not on the public internet; the master can allow it in web.allow_private_hosts",
    is_error: true,
  })
  expect(await fetched({ url: "file:///etc/passwd" })).toEqual({
    output: "only http and https are fetched, not file:",
    is_error: true,
  })
  expect(await fetched({ url: `http://${here}/missing` })).toEqual({
    output: `http://${here}/missing answered with status 404.\nNo such boat`,
    is_error: true,
  })
})

test("links within links, and lists within lists without an end, keep their words", async () => {
  const links = await pageText('<a href="/a">one <a href="/b">two</a> three</a>', "http://e.org/")
  expect(links.text).toBe("[one](http://e.org/a) [two](http://e.org/b) three")
  const lists = await pageText("<ul><li>w".repeat(3000), "http://e.org/")
  expect(lists.text.match(/- w/g)).toHaveLength(3000)
})

// Quadratic or worse, one of these ends the test by its limit.
test.each([
  "<b>",
  "<a href=//x/>w",
  "<ul><li>w",
  "</x>",
  "<x>",
  "&amp;",
  "<table><td>",
  "<a b=",
  "<pre>",
])("a megabyte of %j is read in one pass", async (piece) => {
  const pieces =
    piece === "<pre>" ? `<pre>${" ".repeat(1_000_000)}.` : piece.repeat(1_000_000 / piece.length)
  await pageText(`${pieces}the end`, "http://e.org/")
})

test("depth and disorder do no harm", async () => {
  expect(await page("/deep")).toEndWith("\n\ndeep inside")
  expect(await page("/empty")).toEndWith("\n\n[empty]")
  const { text } = await pageText("<p>a<td>b</p></a></ul><li>c<h2>d", "http://e.org/")
  expect(text.replaceAll(/[^abcd]/g, "")).toBe("abcd")
})
