/** The tool that puts the kernel to sleep. */
import { Type } from "@sinclair/typebox"
import { KernelError } from "../lib/error.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import type { Sleep } from "./sleep.ts"

export const consolidateTool = (sleep: Pick<Sleep, "start">): Tool => ({
  ...{ name: "memory_consolidate", group: "memory", icon: "💤" },
  description:
    "Puts you to sleep now, without waiting for the night: memory is tidied once the running turns are over, this one too. Only when asked to.",
  input: Type.Object({}, { additionalProperties: false }),
  gates: ["master_only"],
  traits: {},
  run: async () => {
    try {
      const state = sleep.start()
      return {
        output:
          state === "asleep"
            ? "you sleep already"
            : "you fall asleep when this turn is over; messages wait until you wake",
      }
    } catch (error) {
      if (!(error instanceof KernelError)) throw error
      throw new ToolFailure(error.message)
    }
  },
})
