import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import * as fs from "node:fs"
import { join } from "node:path"
import { createImages, type Images, type ImagesOptions } from "../../src/images/images.ts"
import { KernelError } from "../../src/lib/error.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import { silentLog } from "../../src/lib/log.ts"
import { openTempStore } from "../support/temp-store.ts"
import { bytesOf, pngOf, SAMPLES } from "./samples.ts"

const DAY_MS = 24 * 60 * 60 * 1000
const CHAT = "0198c0de-0000-7000-8000-000000000001"
const BRANCH = "0198c0de-0000-7000-8000-000000000002"

let temp: ReturnType<typeof openTempStore>
let images: Images
let dir: string

const open = (more: Partial<ImagesOptions> = {}): Images =>
  createImages({
    ...{ store: temp.store, clock: temp.clock, newId: uuidV4, dir, log: silentLog },
    ...{ keepMs: 30 * DAY_MS, maxBytes: 5 * 1024 * 1024 },
    ...more,
  })

beforeEach(() => {
  temp = openTempStore()
  dir = join(temp.folder, "images")
  images = open()
  addChat(CHAT)
})
afterEach(() => temp.close())

function addChat(id: string, forkedFrom: string | null = null): void {
  temp.store.db
    .query("INSERT INTO chats (id, forked_from, created_at, updated_at) VALUES (?, ?, 1, 1)")
    .run(id, forkedFrom)
}

function addMessage(chatId: string, blocks: unknown[]): void {
  temp.store.db
    .query(
      "INSERT INTO messages (id, chat_id, role, blocks, master, created_at) VALUES ('m1', ?, 'user', ?, 1, 1)",
    )
    .run(chatId, JSON.stringify(blocks))
}

const eraseChat = (id: string) => temp.store.db.query("DELETE FROM chats WHERE id = ?").run(id)
const files = () => fs.readdirSync(dir).sort()
const rows = () => temp.store.db.query<{ id: string }, []>("SELECT id FROM images").all()
const mode = (path: string) => (fs.statSync(path).mode & 0o777).toString(8)

const refused = async (picture: { base64: string; mediaType?: string }, by = images) => {
  const error = await by.acceptAll([picture], CHAT).catch((reason: unknown) => reason)
  if (!(error instanceof KernelError)) throw new Error("it was accepted")
  expect([files(), rows()]).toEqual([[], []])
  return { code: error.code, path: error.path, message: error.message }
}

describe("accepting", () => {
  test("each format is stored under an unguessable id, for the owner's eyes only", async () => {
    const samples = Object.values(SAMPLES)
    const blocks = await images.acceptAll(
      samples.map((base64) => ({ base64 })),
      CHAT,
    )
    expect(blocks.map(({ media_type }) => media_type)).toEqual([
      ...["image/png", "image/jpeg", "image/gif"],
      ...["image/webp", "image/webp", "image/webp"],
    ])
    expect(mode(dir)).toBe("700")
    for (const [index, { type, id, media_type }] of blocks.entries()) {
      expect(type).toBe("image")
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/)
      expect(mode(join(dir, id))).toBe("600")
      const read = await images.read(id)
      expect(media_type).toBe(read!.mediaType)
      expect((await read!.file.bytes()).toBase64()).toBe(samples[index]!)
    }
    expect(files()).toEqual(blocks.map(({ id }) => id).sort())
  })

  test("a declared type is checked against the bytes", async () => {
    expect(await refused({ base64: SAMPLES.jpeg, mediaType: "image/png" })).toMatchObject({
      code: "invalid",
      path: "images.0",
      message: "media_type says image/png, the bytes are image/jpeg: correct it or leave it out",
    })
    expect((await refused({ base64: SAMPLES.png, mediaType: "image/tiff" })).message).toBe(
      "media_type image/tiff is not supported: send PNG, JPEG, WebP or GIF",
    )
    const [block] = await images.acceptAll([{ base64: SAMPLES.jpeg, mediaType: "IMAGE/JPG" }], CHAT)
    expect(block?.media_type).toBe("image/jpeg")
  })

  test("what is over a limit is refused with the limit, before anything is stored", async () => {
    const small = open({ maxBytes: 1000 })
    const size = await refused({ base64: pngOf({ bytes: 1001 }).toBase64() }, small)
    expect(size).toEqual({
      code: "too_large",
      path: "images.0",
      message: "the picture is larger than 1000 bytes: send a smaller one",
    })
    const huge = await refused({ base64: pngOf({ bytes: 6 * 1024 * 1024 }).toBase64() })
    expect(huge.message).toContain("5 MiB")
    const wide = await refused({ base64: pngOf({ width: 8001 }).toBase64() })
    expect(wide).toMatchObject({ code: "too_large", path: "images.0" })
    expect(wide.message).toContain("8001 × 17 pixels, a side may have 8000")

    const exact = [pngOf({ bytes: 1000 }), pngOf({ width: 8000, height: 8000 })]
    const taken = await small.acceptAll(
      exact.map((bytes) => ({ base64: bytes.toBase64() })),
      CHAT,
    )
    expect(taken).toHaveLength(2)
  })

  test("one bad picture of several keeps all of them out", async () => {
    const error = await images
      .acceptAll([{ base64: SAMPLES.png }, { base64: "not base64!" }], CHAT)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: "invalid", path: "images.1" })
    expect([files(), rows()]).toEqual([[], []])
  })

  test("what is no picture is named as what it looks like", async () => {
    const named = async (text: string) =>
      (await refused({ base64: new TextEncoder().encode(text).toBase64() })).message
    expect(await named("")).toContain("is empty")
    expect(await named("%PDF-1.7 …")).toContain("a PDF")
    expect(await named("<svg/>")).toContain("an SVG")
    expect(await named("\0\0\0\x18ftypheic")).toContain("a HEIC")
    expect(await named("hello there")).toContain(
      "of an unknown format: send PNG, JPEG, WebP or GIF",
    )
    const cut = bytesOf(SAMPLES.png).subarray(0, 20).toBase64()
    expect((await refused({ base64: cut })).message).toContain("cut short or broken")
    const data = await refused({ base64: `data:image/png;base64,${SAMPLES.png}` })
    expect(data.message).toContain("leave out the data: prefix")
  })

  test("base64 may be broken into lines; hostile text is refused without a long search", async () => {
    const lines = SAMPLES.jpeg.replaceAll(/.{76}/g, "$&\r\n")
    expect(await images.acceptAll([{ base64: `${lines}\n` }], CHAT)).toHaveLength(1)
    // A check that goes back over its steps would need minutes here.
    for (const text of [
      `A${" ".repeat(2_000_000)}!`,
      "A=".repeat(1_000_000),
      "=".repeat(1_000_000),
    ]) {
      const error = await images
        .acceptAll([{ base64: text }], CHAT)
        .catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: "invalid", path: "images.0" })
    }
  })

  test("a disk that refuses keeps nothing and says nothing of paths", async () => {
    fs.rmSync(dir, { recursive: true })
    const error = await images
      .acceptAll([{ base64: SAMPLES.png }], CHAT)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: "unavailable",
      message: "the picture cannot be stored now",
    })
    expect(rows()).toEqual([])
  })

  test("a folder that cannot be one stops the start with the name of the setting", () => {
    const file = join(temp.folder, "file")
    fs.writeFileSync(file, "")
    for (const bad of [file, join(file, "below")]) {
      expect(() => open({ dir: bad })).toThrow(expect.objectContaining({ path: "images.dir" }))
    }
  })
})

describe("reading", () => {
  test("only an id of a stored picture reads a file", async () => {
    fs.writeFileSync(join(dir, "secret"), "x")
    for (const id of ["secret", "../eva.db", "", uuidV4(), "%2e%2e/eva.db"]) {
      expect(await images.read(id)).toBeUndefined()
    }
    // A file without a row is no picture either.
    const stray = uuidV4()
    fs.writeFileSync(join(dir, stray), bytesOf(SAMPLES.png))
    expect(await images.read(stray)).toBeUndefined()
  })

  test("a request gets its pictures as base64, each once, without those that are gone", async () => {
    const [png, gif] = await images.acceptAll(
      [{ base64: SAMPLES.png }, { base64: SAMPLES.gif }],
      CHAT,
    )
    fs.rmSync(join(dir, gif!.id))
    const loaded = await images.load([png!.id, png!.id, gif!.id, uuidV4()])
    expect([...loaded]).toEqual([[png!.id, { mediaType: "image/png", base64: SAMPLES.png }]])
  })

  test("TIMG-14: links begin with the public address, or are paths of this server", () => {
    expect(images.url("abc")).toBe("/images/abc")
    expect(open({ baseUrl: "https://eva.example.org/" }).url("abc")).toBe(
      "https://eva.example.org/images/abc",
    )
  })
})

describe("drawn pictures", () => {
  test("they expire: unreadable at once, removed by the purge", async () => {
    const drawn = await images.keepDrawn({ bytes: bytesOf(SAMPLES.webpLossy), chatId: CHAT })
    const [sent] = await images.acceptAll([{ base64: SAMPLES.png }], CHAT)
    expect(drawn).toMatchObject({ type: "image", media_type: "image/webp" })

    temp.clock.advance(30 * DAY_MS - 1)
    expect(await images.purgeExpired()).toBe(0)
    expect(await images.read(drawn.id)).toBeDefined()

    temp.clock.advance(1)
    expect(await images.read(drawn.id)).toBeUndefined()
    expect(await images.purgeExpired()).toBe(1)
    expect(files()).toEqual([sent!.id])
    expect(rows()).toEqual([{ id: sent!.id }])
    expect(await images.purgeExpired()).toBe(0)
  })

  test("they may be larger than a message's, but a foreign format is refused", async () => {
    const small = open({ maxBytes: 100 })
    const drawn = await small.keepDrawn({ bytes: pngOf({ width: 9000, bytes: 4000 }) })
    expect(await small.read(drawn.id)).toBeDefined()
    const error = await small
      .keepDrawn({ bytes: new TextEncoder().encode("BM…") })
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: "invalid", message: "the drawn picture is a BMP" })
  })
})

describe("the end of a picture", () => {
  test("the pictures of an erased chat go with it", async () => {
    await images.acceptAll([{ base64: SAMPLES.png }, { base64: SAMPLES.gif }], CHAT)
    addChat(BRANCH)
    const [other] = await images.acceptAll([{ base64: SAMPLES.png }], BRANCH)
    eraseChat(CHAT)
    expect(await images.removeOfChat(CHAT)).toBe(2)
    expect(files()).toEqual([other!.id])
    expect(await images.removeOfChat(CHAT)).toBe(0)
  })

  test("a branch keeps the pictures that it shows, until it goes itself", async () => {
    const [shown, unseen] = await images.acceptAll(
      [{ base64: SAMPLES.png }, { base64: SAMPLES.gif }],
      CHAT,
    )
    addChat(BRANCH, CHAT)
    addMessage(BRANCH, [{ type: "text", text: `"image" ${unseen!.id}` }, shown])
    eraseChat(CHAT)
    expect(await images.removeOfChat(CHAT)).toBe(1)
    expect(files()).toEqual([shown!.id])
    eraseChat(BRANCH)
    expect(await images.removeOfChat(BRANCH)).toBe(1)
    expect(files()).toEqual([])
  })

  test("the purge finishes what a crash left: pictures of erased chats, files without a row", async () => {
    await images.acceptAll([{ base64: SAMPLES.png }], CHAT)
    eraseChat(CHAT)
    const [lost, young] = [uuidV4(), uuidV4()]
    const longAgo = (temp.clock.now() - 2 * 60 * 60 * 1000) / 1000
    const now = temp.clock.now() / 1000
    for (const name of [lost, `.${lost}.tmp`, "notes.txt", young]) {
      fs.writeFileSync(join(dir, name), "x")
      fs.utimesSync(join(dir, name), longAgo, name === young ? now : longAgo)
    }
    fs.mkdirSync(join(dir, uuidV4()))
    expect(await images.purgeExpired()).toBe(3)
    // Another's file, a folder, and what may be being stored right now are left alone.
    expect(files()).toContain("notes.txt")
    expect(files()).toContain(young)
    expect(files()).toHaveLength(3)
  })
})
