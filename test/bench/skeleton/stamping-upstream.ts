/**
 * A model server whose words are the moments at which they were sent, so that a listener can tell how long
 * each took to reach it. `stamped-c500` sends 500 of them at 100 a second; `-p4096` pads each to so many
 * characters.
 */
import { epochMs } from "../statistics.ts"

const EVERY_MS = 10

const frame = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    ...{ id: "stamped", object: "chat.completion.chunk", created: 0, model: "stamped" },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`

const END = `${frame({}, "stop")}data: [DONE]\n\n`
const encoder = new TextEncoder()

function answer(count: number, padding: string): Response {
  let timer: Timer | undefined
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const send = (text: string): void => controller.enqueue(encoder.encode(text))
      let left = count
      timer = setInterval(() => {
        if (left-- > 0) return send(frame({ content: `@${epochMs().toFixed(3)};${padding}` }))
        clearInterval(timer)
        send(END)
        controller.close()
      }, EVERY_MS)
    },
    cancel: () => clearInterval(timer),
  })
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } })
}

const numberIn = (model: string, flag: string): number =>
  Number(new RegExp(`-${flag}(\\d+)`).exec(model)?.[1] ?? 0)

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => {
    const { model } = (await request.json()) as { model: string }
    return answer(numberIn(model, "c"), "x".repeat(numberIn(model, "p")))
  },
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
