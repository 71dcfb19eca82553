/** The events of the streams as the OpenAPI document shows them: each a component of its own. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox"
import { CHAT_EVENTS, TURN_EVENTS } from "../schema/event.ts"
import { ResetEvent } from "../schema/stream.ts"

/** What the kernel adds to every event. */
const envelope = {
  seq: Type.Integer({ description: "Increases over the whole kernel" }),
  chat_id: Type.String(),
  turn_id: Type.Optional(Type.String()),
  replayed: Type.Optional(
    Type.Boolean({ description: "From the log: to be drawn, never executed" }),
  ),
}

const onWire = (event: TObject): TObject =>
  Type.Object({ ...event.properties, ...envelope }, { description: event.description ?? "" })

/** `text_delta` → `TextDeltaEvent`. */
const componentName = (type: string): string =>
  `${type.replaceAll(/(?:^|[_.])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`

const componentsOf = (events: Readonly<Record<string, TObject>>): Record<string, TObject> =>
  Object.fromEntries(
    Object.values(events).map((event) => [
      componentName(event.properties.type!.const),
      onWire(event),
    ]),
  )

const turnComponents = componentsOf(TURN_EVENTS)
const chatComponents = componentsOf(CHAT_EVENTS)

const reference = (name: string) => Type.Unsafe({ $ref: `#/components/schemas/${name}` })
const oneOf = (names: readonly string[], description: string): TSchema =>
  Type.Unsafe({
    description,
    oneOf: names.map(reference),
    discriminator: { propertyName: "type" },
  })

export const EVENT_COMPONENTS: Readonly<Record<string, TSchema>> = {
  ...turnComponents,
  ...chatComponents,
  ResetEvent,
}

export const TURN_STREAM = oneOf(
  Object.keys(turnComponents),
  "The `data:` of each server-sent event is one of these objects",
)

export const FEED_STREAM = oneOf(
  Object.keys(EVENT_COMPONENTS),
  "The `data:` of each server-sent event is one of these objects; its `id:` is the `seq`",
)

/** For the description of a route, in Markdown. */
export const EVENT_LIST = Object.entries(TURN_EVENTS)
  .map(([type, event]) => `- \`${type}\`: ${event.description}`)
  .join("\n")
