/** How calls and results of a chat are shown, by the settings. */
import type { Config } from "../config/schema.ts"
import type { TrafficSettings } from "./traffic.ts"

export function trafficSettings(
  context: Config["context"],
  traits: TrafficSettings["traits"],
  fromSurface: boolean,
): TrafficSettings {
  return {
    window: { exchanges: context.tool_result_keep, chars: context.tool_result_keep_chars },
    past: fromSurface ? context.telegram.past_tool_traffic : context.past_tool_traffic,
    limits: {
      maxChars: context.tool_result_max_chars,
      readerChars: context.reader_result_max_chars,
    },
    traits,
  }
}
