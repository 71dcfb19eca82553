import type { ModelCatalogue } from "../../schema/catalogue.ts"
import type { Chat, ChatPatch, NewChat } from "../../schema/chat.ts"
import type { Effort } from "../../schema/effort.ts"
import type { Item } from "../../schema/item.ts"
import { createChanges } from "./changes.ts"
import { createChatList } from "./chat-list.ts"
import { ChatView } from "./chat-view.ts"
import { checkModel } from "./check-model.ts"
import { ClientError, sentenceOf } from "./client-error.ts"
import { coalesced } from "./coalesce.ts"
import { compactChat } from "./compact-chat.ts"
import { followFeed } from "./feed.ts"
import type { Requests } from "./hands/requests.ts"
import type { KernelClient } from "./kernel-client.ts"
import { Outbox } from "./outbox.ts"
import { createItemJoin, drawState, NO_USAGE, usageOf } from "./picture.ts"
import type { WireEvent } from "./read-events.ts"
import { chatRoom, draftRoom, type Room } from "./room.ts"
import type { ChatFilter, Connection, Notice, Session, SessionState, StateKey } from "./session.ts"
import type { SessionOptions } from "./session-options.ts"

/**
 * Reads what the first picture needs and follows the kernel from then on. Throws ClientError when the
 * kernel cannot be reached, does not let this client in, or has no chat with this id.
 */
export async function createSession(options: SessionOptions): Promise<Session> {
  const session = new ChatSession(options)
  try {
    await session.begin()
    return session
  } catch (error) {
    session.close()
    throw error
  }
}

/** Many events of a moment ask for the same. */
const READ_PAUSE_MS = 100
/** Before everything is tried anew while the feed stands. */
const AGAIN_MS = 300
const NOTHING: readonly never[] = []

class ChatSession implements Session {
  readonly #options: SessionOptions
  readonly #client: KernelClient
  readonly #outbox: Outbox
  readonly #requests: Requests | undefined
  readonly #list
  readonly #changes = createChanges<StateKey>()
  readonly #joinItems = createItemJoin()
  #state: SessionState | undefined
  #connection: Connection = { state: "connecting" }
  #kernel: SessionState["kernel"]
  #models: ModelCatalogue | undefined
  #room: Room
  /** Views that are still being read: of a chat that is being opened, and of the open one anew. */
  #opening: ChatView | undefined
  #renewing: ChatView | undefined
  #renewal: Promise<void> = Promise.resolve()
  #usage = NO_USAGE
  #notice: Notice | undefined
  #leaveFeed = () => {}
  readonly #readUsage = coalesced(() => this.#loadUsage(), READ_PAUSE_MS)
  readonly #readChat = coalesced(() => this.#loadChat(), READ_PAUSE_MS)
  readonly #readAll = coalesced(() => this.#loadAll(), 0)
  readonly #readHistory = coalesced(() => this.#renewView(), 0)

  constructor(options: SessionOptions) {
    const { client, clock, newKey, silenceMs } = options
    this.#options = options
    this.#client = client
    if (options.remark !== undefined) this.#notice = { text: options.remark, kind: "info" }
    this.#list = createChatList(client, () => this.#touch("chats", "folders", "filter"))
    this.#room = draftRoom(options.draft ?? {}, this.#make)
    this.#requests = options.hands?.({
      onChange: () => this.#touch("pending"),
      onProblem: (error) => this.#tell(error),
    })
    this.#outbox = new Outbox({
      ...{ client, clock, newKey, silenceMs, hasHands: this.#requests !== undefined },
      onChange: () => this.#touch("items"),
      onNamed: ({ chatId, turnId, said }) => {
        this.#requests?.claim(turnId)
        if (!said) return
        for (const view of this.#views()) if (view.chatId === chatId) view.adopt(turnId, said)
      },
    })
  }

  async begin(): Promise<void> {
    const { chatId, silenceMs, retryMs, relocate, clock } = this.#options
    const [models] = await Promise.all([
      this.#client.models(),
      chatId === undefined ? undefined : this.open(chatId),
      this.#list.load(),
    ])
    this.#models = models
    this.#leaveFeed = followFeed({
      ...{ client: this.#client, clock, silenceMs, retryMs, relocate },
      onEvent: (event) => this.#handle(event),
      onReset: this.#readAll,
      onConnection: (connection, version) => this.#connected(connection, version),
    })
  }

  state(): SessionState {
    this.#state ??= this.#draw()
    return this.#state
  }

  subscribe = this.#changes.subscribe

  async open(chatId: string): Promise<void> {
    const view = this.#newView(chatId)
    this.#opening = view
    try {
      const [chat] = await Promise.all([this.#client.chat(chatId), view.load()])
      // Whoever opened another one meanwhile wants that.
      if (this.#opening === view) this.#enter(chatRoom(chat, view))
    } finally {
      if (this.#opening === view) this.#opening = undefined
      if (this.#room.view !== view) view.close()
    }
    this.#readUsage()
  }

  async newChat(settings: NewChat = {}): Promise<void> {
    this.#opening = undefined
    this.#enter(draftRoom(settings, this.#make))
  }

  send(text: string): Promise<void> {
    return this.#outbox.send(this.#room, text, this.#room.view?.items())
  }

  withdraw(): string | undefined {
    return this.#connection.state === "live" ? undefined : this.#outbox.withdraw(this.#room)
  }

  async cancel(): Promise<void> {
    const { chatId, view } = this.#room
    if (chatId === undefined || view === undefined || view.turns().length === 0) return
    view.markCancelling()
    this.#requests?.stop(chatId)
    await this.#client.cancelChat(chatId).catch((error: unknown) => {
      const isOver = error instanceof ClientError && error.code === "not_found"
      if (!isOver) throw error
    })
  }

  async loadOlder(): Promise<void> {
    await this.#room.view?.loadOlder()
  }

  async rename(title: string): Promise<void> {
    await this.#set({ title }, (chatId) => this.#client.patchChat(chatId, { title } as ChatPatch))
  }

  async move(folder: string | null): Promise<void> {
    await this.#set({ folder }, (chatId) => this.#client.setFolder(chatId, folder))
  }

  async setModel(model: string | null): Promise<void> {
    // A draft would keep any name until its first message is refused.
    const isDraft = this.#room.chatId === undefined
    if (isDraft && model !== null && this.#models) checkModel(model, this.#models.models)
    await this.#set({ model }, (chatId) => this.#client.setModel(chatId, model))
  }

  async setEffort(effort: Effort | null): Promise<void> {
    await this.#set({ effort }, (chatId) => this.#client.setEffort(chatId, effort))
  }

  async fork(itemId: string): Promise<void> {
    const { chatId, messageId } = await this.#storedMessage(itemId)
    const branch = await this.#client.fork(chatId, { before_message: messageId })
    await this.open(branch.id)
  }

  async rewind(itemId: string): Promise<string> {
    const item = this.state().items.find(({ id }) => id === itemId)
    const { chatId, messageId } = await this.#storedMessage(itemId)
    await this.#client.rewind(chatId, messageId)
    await this.#renewView()
    return item && "text" in item ? item.text : ""
  }

  async remove(chatId = this.#room.chatId): Promise<void> {
    if (chatId === undefined) throw new ClientError("usage", "there is no chat to remove yet")
    await this.#client.removeChat(chatId)
    if (this.#room.chatId === chatId) await this.newChat()
    await this.#list.load()
  }

  async restore(chatId: string): Promise<void> {
    await this.#client.restoreChat(chatId)
    await Promise.all([this.#list.load(), this.#loadChat()])
  }

  decide: Session["decide"] = async (request, decision) => this.#requests?.decide(request, decision)
  compact: Session["compact"] = () => compactChat(this.#client, this.#room.chat)
  context: Session["context"] = async () => this.#client.contextOf(this.#room.chat)
  answer: Session["answer"] = async (request, answer) => this.#requests?.answer(request, answer)
  async undo(): Promise<string> {
    const { undoTurn } = await import("./hands/undo.ts")
    const { newKey: newId } = this.#options
    return undoTurn({ client: this.#client, chat: this.#room.chat, newId })
  }

  tell(text: string): void {
    this.#notice = { text, kind: "info" }
    this.#touch("notice")
  }

  filter(filter: ChatFilter): Promise<void> {
    return this.#list.load(filter)
  }

  search(title: string): Promise<Chat[]> {
    return this.#client.chats({ title, surface: "any" })
  }

  dismissNotice(): void {
    this.#notice = undefined
    this.#touch("notice")
  }

  close(): void {
    this.#leaveFeed()
    this.#outbox.close()
    this.#requests?.close()
    for (const view of this.#views()) view.close()
  }

  // --- what the kernel tells

  #connected(connection: Connection, version: string | undefined): void {
    this.#connection = connection
    this.#touch("connection")
    if (version === undefined) return
    const { url } = this.#options.address()
    if (this.#kernel?.url !== url || this.#kernel.version !== version) {
      this.#kernel = { url, version }
      this.#touch("kernel")
    }
    this.#outbox.retry()
  }

  #handle(event: WireEvent): void {
    this.#list.handle(event)
    this.#requests?.handle(event)
    const { type, chat_id: chatId, turn_id: turnId } = event
    for (const view of this.#views()) if (view.chatId === chatId) view.handle(event)
    const isEnd = type === "done" || type === "error"
    if (isEnd && turnId !== undefined) this.#outbox.over(turnId)
    if (chatId !== this.#room.chatId) return
    if (type === "usage" || isEnd) this.#readUsage()
    if (type.startsWith("chat_") || isEnd) this.#readChat()
  }

  /** The place in the stream is lost: everything is read anew, and turns that died are taken up. */
  async #loadAll(): Promise<void> {
    try {
      const [models, turns] = await Promise.all([this.#client.models(), this.#client.generations()])
      this.#models = models
      this.#touch("models", "model", "effort")
      await Promise.all([this.#list.load(), this.#loadChat(), this.#renewView(), this.#loadUsage()])
      this.#outbox.resume(new Set(turns.map(({ id }) => id)))
    } catch (error) {
      // A kernel that is going away again is the feed's care; anything else the user should know.
      if (!(error instanceof ClientError && error.passes)) this.#tell(error)
      else if (this.#connection.state === "live") setTimeout(this.#readAll, AGAIN_MS)
    }
  }

  /** A new view of the open chat, which takes over when it is complete: one after another. */
  #renewView(): Promise<void> {
    const renew = () => this.#renewViewNow()
    this.#renewal = this.#renewal.then(renew, renew)
    return this.#renewal
  }

  async #renewViewNow(): Promise<void> {
    const room = this.#room
    if (room.chatId === undefined || room.view === undefined) return
    const view = this.#newView(room.chatId, room.view.items())
    this.#renewing = view
    try {
      await view.load()
      if (this.#room === room) this.#show(room, view)
    } finally {
      this.#renewing = undefined
      if (this.#room.view !== view) view.close()
    }
  }

  async #loadChat(): Promise<void> {
    const room = this.#room
    if (room.chatId === undefined) return
    const chat = await this.#client.chat(room.chatId)
    if (this.#room.chatId !== chat.id) return
    this.#room.chat = chat
    this.#touch("chat", "model", "effort")
  }

  async #loadUsage(): Promise<void> {
    const { chatId } = this.#room
    if (chatId === undefined) return
    const spend = await this.#client.spend(chatId)
    if (this.#room.chatId !== chatId) return
    this.#usage = usageOf(spend)
    this.#touch("usage")
  }

  // --- rooms

  /** Turns a draft into a chat; its view is there before anything is said in it. */
  readonly #make = async (room: Room): Promise<string> => {
    const chat = await this.#client.createChat(room.settings)
    const view = this.#newView(chat.id)
    Object.assign(room, { chatId: chat.id, chat, settings: {} })
    this.#show(room, view)
    if (this.#room === room) this.#options.remember?.(chat.id)
    // There is no history yet: what happens from now on comes by the feed.
    await view.load().catch(() => undefined)
    return chat.id
  }

  #newView(chatId: string, before: readonly Item[] = []): ChatView {
    return new ChatView({
      ...{ client: this.#client, chatId, before, silenceMs: this.#options.silenceMs },
      onChange: (...keys) => this.#touch(...keys),
      onStale: this.#readHistory,
      onJoined: (event) => this.#requests?.handle(event),
    })
  }

  #views = (): ChatView[] =>
    [this.#room.view, this.#opening, this.#renewing].filter((view) => view !== undefined)

  /** Leaves the open chat for another one, or for a draft. */
  #enter(room: Room): void {
    const isOther = this.#room.chatId !== room.chatId
    this.#room.view?.close()
    this.#room = room
    if (isOther) this.#usage = NO_USAGE
    if (isOther && room.chatId !== undefined) this.#options.remember?.(room.chatId)
    this.#touchRoom()
  }

  /** Puts a view in the place of the one that the room has. */
  #show(room: Room, view: ChatView): void {
    room.view?.close()
    room.view = view
    this.#touchRoom()
  }

  #touchRoom(): void {
    this.#touch("chat", "items", "hasOlder", "turns", "failures", "activity")
    this.#touch("pending", "usage", "model", "effort")
  }

  /** Sets a property of the open chat, or of the chat that the draft will become. */
  async #set(setting: NewChat, call: (chatId: string) => Promise<Chat>): Promise<void> {
    const room = this.#room
    if (room.chatId === undefined) room.settings = { ...room.settings, ...setting }
    else room.chat = await call(room.chatId)
    this.#touch("chat", "model", "effort")
  }

  async #storedMessage(itemId: string): Promise<{ chatId: string; messageId: string }> {
    const { chatId, view } = this.#room
    const messageId = await view?.messageOf(itemId)
    if (chatId !== undefined && messageId !== undefined) return { chatId, messageId }
    throw new ClientError("usage", "this is not stored yet; wait for the end of the answer")
  }

  // --- the picture

  #tell(error: unknown): void {
    this.#notice = { text: sentenceOf(error), kind: "error" }
    this.#touch("notice")
  }

  #touch(...keys: StateKey[]): void {
    this.#state = undefined
    this.#changes.add(keys)
  }

  #draw(): SessionState {
    const room = this.#room
    const shown = room.view?.items() ?? NOTHING
    return drawState({
      ...{ room, list: this.#list, usage: this.#usage, models: this.#models },
      ...{ connection: this.#connection, kernel: this.#kernel, notice: this.#notice },
      pending: this.#requests?.pendingIn(room.chatId) ?? NOTHING,
      items: this.#joinItems(shown, this.#outbox.echoes(room, shown)),
    })
  }
}
