/** The door by which modules read files of the kernel's own machine. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestApi, testApi } from "./support.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let api: TestApi
beforeEach(async () => {
  api = await testApi()
})
afterEach(() => api.dispose())

const read = (body: object) => api.call("POST /v1/ops/read_bytes", body)
const at = (name: string) => join(api.kernel.folder, name)

test("API-068 SEC-37 TFILE-50: a piece of a file comes in base64, with the size of the whole", async () => {
  writeFileSync(at("shot.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]))
  const path = at("shot.png")
  const piece = await read({ path, offset: 1, size: 3 })
  expect([piece.status, piece.json]).toEqual([200, { total: 5, data: "UE5H" }])
  expect((await read({ path })).json).toEqual({ total: 5, data: "iVBOR/8=" })
  expect((await read({ path, offset: 9 })).json).toEqual({ total: 5, data: "" })
})

test("a piece from the end of 10 GiB", async () => {
  writeFileSync(at("sparse"), "")
  truncateSync(at("sparse"), 10 * 2 ** 30)
  const { json } = await read({ path: at("sparse"), offset: 10 * 2 ** 30 - 2, size: 100 })
  expect(json).toEqual({ total: 10 * 2 ** 30, data: "AAA=" })
})

test("API-068: what is no file is told as what it is", async () => {
  mkdirSync(at("folder"))
  writeFileSync(at("settings.yaml"), "")
  const absent = await read({ path: at("setings.yaml") })
  expect(absent.status).toBe(404)
  expect(absent.json.error).toContain("settings.yaml")
  const folder = await read({ path: at("folder") })
  expect([folder.status, folder.json.error.includes("it is a folder")]).toEqual([400, true])
  const device = await read({ path: "/dev/zero" })
  expect([device.status, device.json.error.includes("regular file")]).toEqual([400, true])
  expect((await read({ path: at("settings.yaml"), offset: -1 })).status).toBe(422)
  expect((await read({ path: at("settings.yaml"), size: 9_000_000 })).status).toBe(422)
})

test("SEC-38 API-068: neither door of bytes writes", async () => {
  const { json } = await api.call("GET /v1/openapi.json")
  const doors = Object.keys(json.paths).filter((path) => path.includes("bytes"))
  expect(doors.toSorted()).toEqual(["/v1/chats/{id}/ops/read_bytes", "/v1/ops/read_bytes"])
  for (const door of doors) expect(Object.keys(json.paths[door])).toEqual(["post"])
  expect((await api.call("POST /v1/ops/write_bytes", { path: at("x"), data: "" })).status).toBe(404)
})
