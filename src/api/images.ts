/** The route of pictures: whoever knows the id may read it, and it never changes. */
import { Type } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Images } from "../images/images.ts"
import { notFound } from "../lib/error.ts"
import { IMAGE_TYPES } from "../schema/image.ts"
import { describe } from "./describe.ts"

const HEADERS = {
  "Cache-Control": "public, max-age=31536000, immutable",
  // A picture is data: opened by itself it runs nothing.
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "Content-Disposition": "inline",
}

export function imageRoutes(images: Pick<Images, "read">) {
  return new Elysia().get(
    "/images/:id",
    async ({ params }) => {
      const picture = await images.read(params.id)
      if (!picture) throw notFound("picture", params.id)
      return new Response(picture.file, {
        headers: { ...HEADERS, "Content-Type": picture.mediaType },
      })
    },
    {
      detail: describe({
        tag: "messages",
        summary: "Read a picture",
        description: `Needs no token: the id cannot be guessed. One of ${IMAGE_TYPES.join(", ")}.`,
        answers: { 200: { description: "The bytes", schema: BYTES, type: "image/*" } },
        problems: ["not_found"],
      }),
    },
  )
}

const BYTES = Type.Unsafe<Uint8Array>({ type: "string", contentMediaType: "image/*" })
