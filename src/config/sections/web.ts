/** Section `web`: what is fetched from the internet. */
import { Type } from "@sinclair/typebox"
import { list, text } from "../field.ts"

export const WebSection = Type.Object(
  {
    allow_private_hosts: list(
      "Hosts that may be fetched although their addresses are private, such as a wiki of the house. Nothing else of this machine and its networks is.",
      text("A host, or a host with a port."),
      { default: [], example: ["wiki.lan", "127.0.0.1:3000"] },
    ),
  },
  { description: "What is fetched from the internet." },
)
