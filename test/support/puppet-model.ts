/**
 * A model server on the wire of Chat Completions whose words are pulled by hand: what an answer says comes
 * when the test says so, so that a screen can be looked at in the middle of an answer.
 */

export interface Answer {
  think(text: string): void
  say(text: string): void
  call(name: string, input: object): void
  /** Ends this answer of the model. */
  end(usage?: { prompt: number; completion: number }): void
}

export interface PuppetModel {
  url: string
  /** The answer to the next request that arrives, as soon as it has. */
  asked(): Promise<Answer>
  /** Says this to the next request, whole. */
  answers(text: string): Promise<void>
  /** Refuses the next request, as a server does that knows no such model. */
  refuses(message: string): void
  stop(): Promise<void>
}

const USAGE = { prompt: 1200, completion: 34 }

export function puppetModel(): PuppetModel {
  const asked: Answer[] = []
  const waiting: ((answer: Answer) => void)[] = []
  const refusals: string[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      await request.json()
      const message = refusals.shift()
      if (message !== undefined) return Response.json({ error: { message } }, { status: 400 })
      const { readable, answer } = openAnswer()
      const next = waiting.shift()
      if (next) next(answer)
      else asked.push(answer)
      return new Response(readable, { headers: { "content-type": "text/event-stream" } })
    },
  })
  const nextAnswer = (): Promise<Answer> => {
    const ready = asked.shift()
    if (ready) return Promise.resolve(ready)
    const { promise, resolve } = Promise.withResolvers<Answer>()
    waiting.push(resolve)
    return promise
  }
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    asked: nextAnswer,
    answers: async (text) => {
      const answer = await nextAnswer()
      answer.say(text)
      answer.end()
    },
    refuses: (message) => void refusals.push(message),
    stop: () => server.stop(true),
  }
}

function openAnswer(): { readable: ReadableStream<Uint8Array>; answer: Answer } {
  let control: ReadableStreamDefaultController<Uint8Array> | undefined
  const readable = new ReadableStream<Uint8Array>({
    start: (controller) => {
      control = controller
    },
    // Who asked has gone: what is said to him from now on is lost.
    cancel: () => {
      control = undefined
    },
  })
  const encoder = new TextEncoder()
  const send = (data: string) => control?.enqueue(encoder.encode(`data: ${data}\n\n`))
  const chunk = (fields: object) =>
    send(JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "puppet", ...fields }))
  const delta = (fields: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: fields, finish_reason: finish }] })
  let calls = 0
  const answer: Answer = {
    think: (text) => delta({ reasoning_content: text }),
    say: (text) => delta({ content: text }),
    call: (name, input) => {
      const index = calls++
      const fn = { name, arguments: JSON.stringify(input) }
      const id = `call_${crypto.randomUUID()}`
      delta({ tool_calls: [{ index, id, type: "function", function: fn }] })
    },
    end: ({ prompt, completion } = USAGE) => {
      delta({}, calls > 0 ? "tool_calls" : "stop")
      chunk({ choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion } })
      send("[DONE]")
      control?.close()
      control = undefined
    },
  }
  return { readable, answer }
}
