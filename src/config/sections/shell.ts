/** Section `shell`: where commands run, and within which bounds. */
import { Type } from "@sinclair/typebox"
import { choice, flag, list, text, textOf, whole } from "../field.ts"

export const ShellSection = Type.Object(
  {
    remote: Type.Optional(
      text("The ssh host on which commands and the server's file tools act, as ssh(1) knows it.", {
        example: "eva@workbench",
        unset: "the machine of the kernel",
      }),
    ),
    output_cap: Type.Optional(
      whole("Characters of one command's output that the agent is given.", {
        minimum: 1000,
        example: 20000,
        unset: "all of it, up to 1 MiB a stream",
      }),
    ),
    sandbox: choice(
      "What commands see: with bwrap (bubblewrap, Linux) the file system is read-only but for the writable paths.",
      ["none", "bwrap"],
      { default: "none" },
    ),
    writable: list(
      "Paths that commands in the sandbox may write to; a private /tmp always is.",
      textOf("path", "A folder or a file."),
      { default: [], example: ["/home/eva/work"] },
    ),
    network: flag("Commands in the sandbox may use the network.", { default: true }),
  },
  { description: "Where commands run, and within which bounds." },
)
