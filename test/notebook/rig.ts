/** A kernel whose agent keeps notes as a test tells it to, and whose model rebuilds notebooks as a test wants. */
import type { Tree } from "../../src/config/merge.ts"
import type { MockOptions } from "../../src/llm/mock.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import type { Note } from "../../src/schema/note.ts"
import {
  plan,
  type SeenEvent,
  type TestKernel,
  type TestKernelOptions,
  testKernel,
} from "../support/kernel.ts"

type Answer = NonNullable<MockOptions["answer"]>

export interface NoteRig {
  kernel: TestKernel
  chat: string
  /** Runs a turn of these calls; what each of them answered. */
  calls(...calls: [name: string, input: object][]): Promise<string[]>
  /** The request of a turn in which nothing happens. */
  look(): Promise<ModelRequest>
  notes(): Note[]
  note(name: string): Note
  /** Writes a note as the master does. */
  put(name: string, body: string, more?: { description?: string; pinned?: boolean }): void
  /** Requests for a rebuild. */
  rebuilds(): ModelRequest[]
}

interface NoteRigOptions extends Omit<TestKernelOptions, "mock"> {
  notes?: Tree
  rebuild?: Answer
}

export async function noteRig({
  notes = {},
  rebuild = () => ({ say: "nothing" }),
  ...options
}: NoteRigOptions = {}): Promise<NoteRig> {
  const kernel = await testKernel({
    ...options,
    config: { ...options.config, notes },
    mock: { answer: (request) => (isRebuild(request) ? rebuild(request) : handover(request)) },
  })
  const chat = kernel.newChat()
  const listed = () => kernel.api.notebook.list(chat).notes
  return {
    kernel,
    chat,
    calls: async (...calls) => {
      const steps = calls.map(([call, input]) => ({ call, input }))
      return resultsIn(await kernel.turn(chat, plan([...steps, { say: "done" }])))
    },
    look: async () => {
      await kernel.turn(chat, "look")
      return asked(kernel).at(-1)!
    },
    notes: listed,
    note: (name) => listed().find((note) => note.name === name)!,
    put: (name, body, { description = `about ${name}`, ...more } = {}) => {
      kernel.api.notebook.save(chat, name, { description, body, ...more })
    },
    rebuilds: () => kernel.requests.filter(isRebuild),
  }
}

const isRebuild = ({ system }: ModelRequest): boolean =>
  system[0]?.text.startsWith("You put a notebook in order") === true

const isHandover = ({ system }: ModelRequest): boolean =>
  system[0]?.text.startsWith("You end a shift") === true

const handover: Answer = (request) => (isHandover(request) ? { say: "HANDOVER" } : undefined)

const asked = (kernel: TestKernel): ModelRequest[] =>
  kernel.requests.filter((request) => !isRebuild(request))

export const resultsIn = (events: readonly SeenEvent[]): string[] =>
  events.flatMap((event) => (event.type === "tool_result" ? [event.output] : []))

/** The lines of `[notebook]` up to the end of the state block. */
export function notebookIn(request: ModelRequest): string {
  const texts = (request.messages.at(-1)?.blocks ?? []).flatMap((block) =>
    block.type === "text" ? [block.text] : [],
  )
  const state = texts.find((text) => text.startsWith("[state]")) ?? ""
  const from = state.indexOf("\n[notebook]")
  return from < 0 ? "" : state.slice(from + 1)
}

export const systemOf = ({ system }: ModelRequest): string =>
  system.map(({ text }) => text).join("\n")

export const toolsIn = ({ tools }: ModelRequest): string[] => tools.map(({ name }) => name)
