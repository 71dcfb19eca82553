/** Section `server`: where the kernel listens and whom its door lets in. */
import { Type } from "@sinclair/typebox"
import { duration, flag, list, secret, size, text, textOf } from "../field.ts"

export const ServerSection = Type.Object(
  {
    listen: textOf("listen", "Address and port to listen on.", { default: "127.0.0.1:8090" }),
    drain: duration("How long shutdown waits for running turns before it cancels them.", {
      default: "120s",
    }),
    hosts: list(
      "Further names that a Host header may carry, beside loopback and the listen address.",
      text("A host name."),
      { default: [], example: ["eva.example.org"] },
    ),
    cors: list(
      "Web origins whose pages may call this kernel; every other cross-site call is refused.",
      textOf("origin", "An origin such as https://eva.example.org."),
      { default: [], example: ["https://eva.example.org"] },
    ),
    token: Type.Optional(
      secret(
        "What a caller must present as a bearer token or in X-Eva-Token; required when the kernel listens beyond this machine.",
        { example: "a long random text", unset: "nobody is asked for a token" },
      ),
    ),
    trust_proxy: flag(
      "A reverse proxy in front checks who calls, so listening beyond this machine needs no token.",
      { default: false },
    ),
    body_max: size("Largest request body.", { default: "32 MiB" }),
  },
  { description: "Where the kernel listens and whom its door lets in.", shown: true },
)
