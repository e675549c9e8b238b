// A client of memstream's HTTP API. Copy it into a chat service. Types come from the API's OpenAPI document (`npm run generate`).
//
//   const memstream = new Memstream("http://127.0.0.1:28080", { key });
//   const block = await memstream.context({ text: "what shall we cook?", namespaces: ["kitchen/ada"], conversation_id: "c1" });
//   for await (const event of memstream.events(["kitchen/ada"], { after: savedPosition })) { ... }
//
// The client retries requests that fail for now (429, 502 to 504, a lost connection) and waits as long as `Retry-After` says.
// Changes carry an `Idempotency-Key`, so a retried change happens once. Other failures are thrown as a `Problem`.

import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];
export type SearchQuery = Schemas["SearchQuery"];
export type SearchAnswer = Schemas["SearchAnswer"];
export type BlockQuery = Schemas["BlockQuery"];
export type Block = Schemas["Block"];
export type NewMemory = Schemas["NewMemory"];
export type ChangedMemory = Schemas["ChangedMemory"];
export type Importance = Schemas["MarkRequest"]["importance"];
export type WindowControl = "flush" | "prune" | "clear" | "restore";
export type WindowChoice = Schemas["WindowChoice"];
export type ConversationPage = Schemas["ConversationPage"];
export type ConversationQuery = NonNullable<paths["/v1/conversations"]["get"]["parameters"]["query"]>;
export type MessagePage = Schemas["MessagePage"];
export type MessageQuery = NonNullable<paths["/v1/conversations/{conversation_id}/messages"]["get"]["parameters"]["query"]>;
export type CommandResult = Schemas["CommandResult"];
export type Memory = paths["/v1/memories/{memory_id}"]["get"]["responses"]["200"]["content"]["application/json"];

/** A change of a memory. Store `position` together with the effect of the event; `events(..., { after: position })` resumes behind it. */
export type Event = { position: string } & Schemas["MemoryEvent"];

/** An error (RFC 9457). `code` is the last part of its type, such as `conflict`; `requestId` is in the server's log. `status` is 0 if there was no answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly requestId?: string,
  ) {
    super(`${status} ${code}: ${detail}`);
    this.name = "Problem";
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.status === 0 || RETRYABLE.has(this.status);
  }
}

export interface Options {
  key?: string;
  /** Timeout of one attempt. */
  timeoutMs?: number;
  attempts?: number;
  sleep?: (ms: number) => Promise<void>;
}

const RETRYABLE = new Set([429, 502, 503, 504]);
const MAX_WAIT_MS = 30_000;
const STREAM_TIMEOUT_MS = 45_000; // the server sends a comment every 15 s

export class Memstream {
  /** Every route, typed: `memstream.api.GET("/v1/statistics", ...)`. Errors are thrown as a `Problem`. */
  readonly api: Client<paths>;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  readonly #attempts: number;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(url: string, options: Options = {}) {
    this.#url = url.replace(/\/+$/, "");
    this.#headers = options.key ? { Authorization: `Bearer ${options.key}` } : {};
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    this.#attempts = options.attempts ?? 5;
    this.#sleep = options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
    this.api = createClient<paths>({
      baseUrl: this.#url,
      headers: this.#headers,
      fetch: (request) => this.#fetchWithRetries(request),
    });
  }

  /** Searches memories and messages. Without a text it returns the most important memories. */
  async search(query: SearchQuery): Promise<SearchAnswer> {
    return data(await this.api.POST("/v1/search", { body: query }));
  }

  /** The context block for a prompt: memories and earlier messages that fit the text, and recent messages that no memory has yet. */
  async context(query: BlockQuery): Promise<Block> {
    return data(await this.api.POST("/v1/context", { body: query }));
  }

  /** Conversations that the key may read, the one with the latest message first; `next` is the cursor of the next page. */
  async conversations(query: ConversationQuery = {}): Promise<ConversationPage> {
    return data(await this.api.GET("/v1/conversations", { params: { query } }));
  }

  /** One page of the messages of a conversation; `around` is the id of the message in the middle of the page. */
  async messages(conversationId: string, query: MessageQuery = {}): Promise<MessagePage> {
    const params = { path: { conversation_id: conversationId }, query };
    return data(await this.api.GET("/v1/conversations/{conversation_id}/messages", { params }));
  }

  /** Marks a sent message for pruning: pinned, important, expendable or normal. */
  async mark(conversationId: string, messageId: string, importance: Importance): Promise<void> {
    await this.api.POST("/v1/conversations/{conversation_id}/mark", {
      params: { path: { conversation_id: conversationId } },
      body: { message_id: messageId, importance },
    });
  }

  /** Acts on a conversation's window: `flush` extracts waiting messages, `prune` and `clear` remove messages from the context, `restore` undoes the latest `prune` or `clear` within ten minutes. */
  async control(conversationId: string, action: WindowControl): Promise<void> {
    const params = { path: { conversation_id: conversationId } };
    if (action === "flush") await this.api.POST("/v1/conversations/{conversation_id}/flush", { params });
    if (action === "prune") await this.api.POST("/v1/conversations/{conversation_id}/prune", { params });
    if (action === "clear") await this.api.POST("/v1/conversations/{conversation_id}/clear", { params: { ...params, query: { confirm: true } } });
    if (action === "restore") await this.api.POST("/v1/conversations/{conversation_id}/restore", { params });
  }

  /** Replaces the conversation's own window settings; its policy says which ones are allowed. Without settings, the policy's apply again. */
  async setConversationSettings(conversationId: string, settings: WindowChoice): Promise<void> {
    const params = { path: { conversation_id: conversationId } };
    await this.api.PUT("/v1/conversations/{conversation_id}/settings", { params, body: settings });
  }

  /** Replaces the window settings of all conversations of a user, of one tenant or app if given. */
  async setUserSettings(userId: string, settings: WindowChoice, scope: { tenant_id?: string; app_id?: string } = {}): Promise<void> {
    const params = { path: { user_id: userId }, query: scope };
    await this.api.PUT("/v1/users/{user_id}/settings", { params, body: settings });
  }

  async get(memoryId: string): Promise<Memory> {
    return data(await this.api.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: memoryId } } }));
  }

  /** Creates a memory, or reinforces the one that says the same. */
  async create(memory: NewMemory): Promise<CommandResult> {
    return data(await this.api.POST("/v1/memories", { body: memory, headers: idempotencyKey() }));
  }

  /** Changes the given fields of a memory. `null` clears `event_time`, `valid_from` or `valid_until`. */
  async update(memoryId: string, changed: ChangedMemory): Promise<CommandResult> {
    const params = { path: { memory_id: memoryId } };
    return data(await this.api.PATCH("/v1/memories/{memory_id}", { params, body: changed, headers: idempotencyKey() }));
  }

  /** Deletes a memory. Its versions stay, and an undo restores it. */
  async delete(memoryId: string): Promise<CommandResult> {
    const params = { path: { memory_id: memoryId } };
    return data(await this.api.DELETE("/v1/memories/{memory_id}", { params, headers: idempotencyKey() }));
  }

  /** Erases a memory for good, with its versions. Search hides its source messages, unless `keepMessages`; the archive keeps them. */
  async erase(memoryId: string, keepMessages = false): Promise<CommandResult> {
    const params = { path: { memory_id: memoryId } };
    const body = { keep_messages: keepMessages };
    return data(await this.api.POST("/v1/memories/{memory_id}/erase", { params, body, headers: idempotencyKey() }));
  }

  /** Undoes a request to forget that ended no memory (`memstream.wish.unknown`): search finds the messages again. */
  async undoWish(namespace: string, wishId: string): Promise<CommandResult> {
    const params = { path: { wish_id: wishId } };
    const body = { namespace };
    return data(await this.api.POST("/v1/wishes/{wish_id}/undo", { params, body, headers: idempotencyKey() }));
  }

  /** The result of a pending change. Throws a Problem with code `pending` after `withinMs`. */
  async waitFor(change: CommandResult, withinMs = 60_000): Promise<CommandResult> {
    const deadline = Date.now() + withinMs;
    while (change.status === "pending") {
      if (Date.now() > deadline) throw new Problem(0, "pending", `still pending after ${withinMs} ms`);
      await this.#sleep(500);
      const params = { path: { command_id: change.command_id }, query: { namespace: change.namespace } };
      change = data(await this.api.GET("/v1/commands/{command_id}", { params }));
    }
    return change;
  }

  /** Changes of memories, without end: every event once, in order within a namespace. Reconnects behind the latest event.
   * Throws a Problem with status 409 if `after` comes from another store, and for other errors that a retry does not help. */
  async *events(
    namespaces: string[],
    { after, since = "now" }: { after?: string; since?: "now" | "beginning" } = {},
  ): AsyncGenerator<Event, never> {
    let position = after;
    for (let failures = 0; ; ) {
      try {
        for await (const frame of this.#frames(namespaces, position, since)) {
          failures = 0;
          position = frame.position;
          if (frame.data) yield { position, ...(JSON.parse(frame.data) as Schemas["MemoryEvent"]) };
        }
      } catch (error) {
        if (error instanceof SyntaxError || (error instanceof Problem && !error.retryable)) throw error;
        failures += 1;
      }
      await this.#sleep(backoffMs(failures));
    }
  }

  async *#frames(namespaces: string[], position: string | undefined, since: string): AsyncGenerator<Frame> {
    const query = new URLSearchParams([...namespaces.map((name) => ["namespace", name]), ["since", since]]);
    const connection = new AbortController();
    const startTimer = (): NodeJS.Timeout => setTimeout(() => connection.abort(), STREAM_TIMEOUT_MS);
    let timer = startTimer();
    try {
      const headers = { ...this.#headers, Accept: "text/event-stream", ...(position ? { "Last-Event-ID": position } : {}) };
      const answer = await fetch(`${this.#url}/v1/events?${query}`, { headers, signal: connection.signal });
      if (!answer.ok || !answer.body) throw await problem(answer);
      const parser = new Frames();
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(timer);
        timer = startTimer();
        yield* parser.push(piece);
      }
    } finally {
      clearTimeout(timer);
      connection.abort(); // also when the caller leaves the loop
    }
  }

  async #fetchWithRetries(request: Request): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      let failed: Problem;
      let waitMs = backoffMs(attempt);
      try {
        const answer = await fetch(request.clone(), { signal: AbortSignal.timeout(this.#timeoutMs) });
        if (answer.ok) return answer;
        failed = await problem(answer);
        waitMs = retryAfterMs(answer) ?? waitMs;
      } catch (error) {
        failed = new Problem(0, "unreachable", String(error));
      }
      if (!failed.retryable || attempt >= this.#attempts) throw failed;
      await this.#sleep(waitMs);
    }
  }
}

interface Frame {
  position: string;
  data: string;
}

/** Parses server-sent events from pieces of text, which may end anywhere. */
class Frames {
  #rest = "";
  #position = "";
  #data: string[] = [];

  *push(piece: string): Generator<Frame> {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
      const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === "id") this.#position = value;
      else if (name === "data") this.#data.push(value);
      else if (line === "" && (this.#position || this.#data.length)) {
        yield { position: this.#position, data: this.#data.join("\n") };
        this.#data = [];
      }
    }
  }
}

/** The error of a response, which may come from a proxy and not be a problem document. */
async function problem(answer: Response): Promise<Problem> {
  const body: Record<string, unknown> = await answer.json().catch(() => ({})) ?? {};
  const code = String(body["type"] ?? "").split(":").pop() || "unknown";
  const id = body["request_id"];
  return new Problem(answer.status, code, String(body["detail"] ?? answer.statusText), ...(id ? [String(id)] : []));
}

function data<T>(answer: { data?: T }): T {
  return answer.data as T; // errors were thrown
}

function idempotencyKey(): { "Idempotency-Key": string } {
  return { "Idempotency-Key": crypto.randomUUID() };
}

function retryAfterMs(answer: Response): number | undefined {
  const value = answer.headers.get("Retry-After") ?? "";
  return /^\d+$/.test(value) ? Math.min(Number(value) * 1000, MAX_WAIT_MS) : undefined;
}

/** 0.1 to 0.2 s after the first failure, doubling to 30 s. The random part spreads the retries of many clients. */
function backoffMs(failures: number): number {
  return Math.min(200 * 2 ** Math.min(failures, 10), MAX_WAIT_MS) * (0.5 + Math.random() / 2);
}
