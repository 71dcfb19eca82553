/** The page of the API in a real browser that reaches nothing but this kernel. */
import { afterEach, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { type Browser, chromium, type Locator, type Page } from "playwright-core"
import { type TestApi, testApi } from "./support.ts"

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
)
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-extensions"],
]
const LIMIT_MS = 90_000
if (!CHROMIUM) process.stderr.write("skipped: no chromium here to open /apidocs in\n")

let api: TestApi | undefined
let browser: Browser | undefined
afterEach(async () => {
  await browser?.close()
  await api?.dispose()
})

/** Lets no request leave this machine, and notes what tried and what went wrong. */
async function fence(page: Page): Promise<{ strangers: string[]; complaints: string[] }> {
  const strangers: string[] = []
  const complaints: string[] = []
  await page.route("**/*", (route) => {
    const { hostname, protocol } = new URL(route.request().url())
    if (hostname === "127.0.0.1" || protocol === "data:") return route.continue()
    strangers.push(route.request().url())
    return route.abort()
  })
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  return { strangers, complaints }
}

/** Sends what stands in the form, and gives the reply that the page shows. */
async function execute(route: Locator): Promise<{ status: string; text: string }> {
  await route.getByRole("button", { name: "Execute" }).click()
  const reply = route.locator(".live-responses-table .response").first()
  await reply.waitFor()
  const status = await reply.locator(".response-col_status").textContent()
  return { status: status?.trim() ?? "", text: (await reply.textContent()) ?? "" }
}

async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole("button", { name: "Authorize" }).first().click()
  const dialog = page.locator(".dialog-ux")
  await dialog.locator("input").first().fill(token)
  await dialog.getByRole("button", { name: "Apply credentials" }).first().click()
  await dialog.getByRole("button", { name: "Close" }).last().click()
}

test.skipIf(!CHROMIUM)(
  "API-002: /apidocs shows the routes, takes a token and tries a route, with no network beyond",
  async () => {
    const token = "correct-horse-battery"
    api = await testApi({ config: { server: { token } } })
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS })
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
    const { strangers, complaints } = await fence(page)
    await page.goto(`${api.url}/apidocs`)
    const route = page.locator(".opblock-post", { has: page.locator('[data-path="/v1/chats"]') })
    await route.waitFor()

    await authorize(page, token)
    await route.locator(".opblock-summary-control").click()
    await route.getByRole("button", { name: "Try it out" }).click()
    const asOffered = await execute(route)
    const [chat] = api.kernel.api.chats.list({})
    expect(asOffered.status).toBe("200")
    expect(asOffered.text).toContain(chat!.id)
    expect(chat!.title).toBe("First steps")
    expect(strangers).toEqual([])
    expect(complaints).toEqual([])
    const shot = process.env.EVA_TEST_SCREENSHOT
    if (shot) await page.screenshot({ path: shot })
  },
  LIMIT_MS,
)
