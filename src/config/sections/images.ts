/** Section `images`: the store of pictures. */
import { Type } from "@sinclair/typebox"
import { duration, size, textOf } from "../field.ts"

export const ImagesSection = Type.Object(
  {
    dir: textOf("path", "Directory of the picture files.", {
      default: "images",
      beside: "database",
    }),
    keep: duration("How long generated pictures are kept.", { default: "30days" }),
    base_url: Type.Optional(
      textOf("url", "What public links .../images/<id> begin with.", {
        example: "https://eva.example.org",
        unset: "http:// and the address that the kernel listens on",
      }),
    ),
    max_bytes: size("Largest picture that a message may carry.", { default: "5 MiB" }),
  },
  { description: "The store of pictures." },
)
