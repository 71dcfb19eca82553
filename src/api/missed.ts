/** What a client missed while it was away: nothing of it that is settled may be carried out any more. */
import type { Emission } from "../events/bus.ts"
import { isObject, parseJson } from "../lib/json.ts"
import type { ApiParts } from "./parts.ts"

const TO_CARRY_OUT = ["client_op", "extra_tool_call"]

/** Marks as `replayed` what asks for something that does not wait any more. */
export function markSettled(
  missed: readonly Emission[],
  { opWaits }: Pick<ApiParts["turns"], "opWaits">,
): Emission[] {
  return missed.map((emission) => {
    if (!TO_CARRY_OUT.includes(emission.type)) return emission
    const event = parseJson(emission.json)
    if (!isObject(event) || opWaits(emission.chatId, String(event.op_id ?? event.id))) {
      return emission
    }
    return { ...emission, json: JSON.stringify({ ...event, replayed: true }) }
  })
}
