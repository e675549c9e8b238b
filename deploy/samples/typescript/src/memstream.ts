// A client of memstream's HTTP API, to be copied into a chat service. Types come from its OpenAPI document (`npm run generate`).
//
//   const memstream = new Memstream("http://127.0.0.1:28080", { key });
//   const block = await memstream.context({ text: "what shall we cook?", namespaces: ["kitchen/ada"], conversation_id: "c1" });
//   for await (const event of memstream.events(["kitchen/ada"], { after: placeKept })) { ... }
//
// What is busy or away (429, 502 to 504, a lost connection) is tried again, as long as the server asks for (`Retry-After`);
// changes bear an `Idempotency-Key`, so that they are made once all the same. What remains wrong is thrown as a `Problem`.

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
export type WindowChoice = Schemas["WindowChoice"];
export type Settled = Schemas["CommandResult"];
export type Memory = paths["/v1/memories/{memory_id}"]["get"]["responses"]["200"]["content"]["application/json"];

/** A change of a memory. Keep `place` with what you make of it: `after: place` goes on behind it. */
export type Event = { place: string } & Schemas["MemoryEvent"];

/** An answer that is an error (RFC 9457). `word` names its kind, for programs; `requestId` finds it in the server's log. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly word: string,
    readonly detail: string,
    readonly requestId?: string,
  ) {
    super(`${status} ${word}: ${detail}`);
    this.name = "Problem";
  }

  /** Busy or away: later, perhaps. */
  get passing(): boolean {
    return this.status === 0 || PASSING.has(this.status);
  }
}

export interface Options {
  key?: string;
  /** Of one attempt. */
  timeoutMs?: number;
  attempts?: number;
  sleep?: (ms: number) => Promise<void>;
}

const PASSING = new Set([429, 502, 503, 504]);
const LONGEST_WAIT_MS = 30_000;
const SILENCE_MS = 45_000; // a stream tells that it lives every 15 s

export class Memstream {
  /** Every route, typed: `memstream.api.GET("/v1/statistics", ...)`. Its errors are thrown as a `Problem`, too. */
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
      fetch: (request) => this.#patiently(request),
    });
  }

  /** What fits a text, of memories and of what was said; without a text the most important memories. */
  async search(query: SearchQuery): Promise<SearchAnswer> {
    return told(await this.api.POST("/v1/search", { body: query }));
  }

  /** What a prompt needs to know: fitting memories, what was said earlier, and what was just said and is not a memory yet. */
  async context(query: BlockQuery): Promise<Block> {
    return told(await this.api.POST("/v1/context", { body: query }));
  }

  /** What a message that was sent is to be in its context: pinned, important, expendable, or normal again. */
  async mark(conversationId: string, messageId: string, importance: Importance): Promise<void> {
    await this.api.POST("/v1/conversations/{conversation_id}/mark", {
      params: { path: { conversation_id: conversationId } },
      body: { message_id: messageId, importance },
    });
  }

  /** Settings for one conversation's context, in place of the policy's, as far as it lets them be chosen; none go back to it. */
  async choose(conversationId: string, settings: WindowChoice): Promise<void> {
    const params = { path: { conversation_id: conversationId } };
    await this.api.PUT("/v1/conversations/{conversation_id}/settings", { params, body: settings });
  }

  async get(memoryId: string): Promise<Memory> {
    return told(await this.api.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: memoryId } } }));
  }

  /** A memory made by hand; one that is known is reinforced. */
  async create(memory: NewMemory): Promise<Settled> {
    return told(await this.api.POST("/v1/memories", { body: memory, headers: once() }));
  }

  async update(memoryId: string, changed: ChangedMemory): Promise<Settled> {
    const params = { path: { memory_id: memoryId } };
    return told(await this.api.PATCH("/v1/memories/{memory_id}", { params, body: changed, headers: once() }));
  }

  /** Its versions stay, and an undo brings it back. */
  async delete(memoryId: string): Promise<Settled> {
    const params = { path: { memory_id: memoryId } };
    return told(await this.api.DELETE("/v1/memories/{memory_id}", { params, headers: once() }));
  }

  /** A change that was pending, once it is carried out. */
  async settled(change: Settled, withinMs = 60_000): Promise<Settled> {
    const deadline = Date.now() + withinMs;
    while (change.status === "pending") {
      if (Date.now() > deadline) throw new Problem(0, "pending", `not carried out within ${withinMs} ms`);
      await this.#sleep(500);
      const params = { path: { command_id: change.command_id }, query: { namespace: change.namespace } };
      change = told(await this.api.GET("/v1/commands/{command_id}", { params }));
    }
    return change;
  }

  /** What happens to memories, for ever, each namespace in its order, every event once. A lost connection is taken up again
   * behind the last event. Throws a Problem for what does not pass; 409 when `after` is of another store. */
  async *events(
    namespaces: string[],
    { after, since = "now" }: { after?: string; since?: "now" | "beginning" } = {},
  ): AsyncGenerator<Event, never> {
    let place = after;
    for (let failures = 0; ; ) {
      try {
        for await (const frame of this.#frames(namespaces, place, since)) {
          failures = 0;
          place = frame.place;
          if (frame.data) yield { place, ...(JSON.parse(frame.data) as Schemas["MemoryEvent"]) };
        }
      } catch (error) {
        if (error instanceof SyntaxError || (error instanceof Problem && !error.passing)) throw error;
        failures += 1;
      }
      await this.#sleep(backoffMs(failures));
    }
  }

  async *#frames(namespaces: string[], place: string | undefined, since: string): AsyncGenerator<Frame> {
    const query = new URLSearchParams([...namespaces.map((name) => ["namespace", name]), ["since", since]]);
    const silence = new AbortController();
    const patience = (): NodeJS.Timeout => setTimeout(() => silence.abort(), SILENCE_MS);
    let timer = patience();
    try {
      const headers = { ...this.#headers, Accept: "text/event-stream", ...(place ? { "Last-Event-ID": place } : {}) };
      const answer = await fetch(`${this.#url}/v1/events?${query}`, { headers, signal: silence.signal });
      if (!answer.ok || !answer.body) throw await problem(answer);
      const parser = new Frames();
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(timer);
        timer = patience();
        yield* parser.of(piece);
      }
    } finally {
      clearTimeout(timer);
      silence.abort(); // whoever leaves the loop leaves the connection
    }
  }

  async #patiently(request: Request): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      let failed: Problem;
      let waitMs = backoffMs(attempt);
      try {
        const answer = await fetch(request.clone(), { signal: AbortSignal.timeout(this.#timeoutMs) });
        if (answer.ok) return answer;
        failed = await problem(answer);
        waitMs = askedToWaitMs(answer) ?? waitMs;
      } catch (error) {
        failed = new Problem(0, "unreachable", String(error));
      }
      if (!failed.passing || attempt >= this.#attempts) throw failed;
      await this.#sleep(waitMs);
    }
  }
}

interface Frame {
  place: string;
  data: string;
}

/** Server-sent events out of pieces of text, which may end anywhere. */
class Frames {
  #rest = "";
  #place = "";
  #data: string[] = [];

  *of(piece: string): Generator<Frame> {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
      const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === "id") this.#place = value;
      else if (name === "data") this.#data.push(value);
      else if (line === "" && (this.#place || this.#data.length)) {
        yield { place: this.#place, data: this.#data.join("\n") };
        this.#data = [];
      }
    }
  }
}

/** Of an answer that is an error, also where a proxy gave it. */
async function problem(answer: Response): Promise<Problem> {
  const said: Record<string, unknown> = await answer.json().catch(() => ({})) ?? {};
  const word = String(said["type"] ?? "").split(":").pop() || "unknown";
  const id = said["request_id"];
  return new Problem(answer.status, word, String(said["detail"] ?? answer.statusText), ...(id ? [String(id)] : []));
}

function told<T>(answer: { data?: T }): T {
  return answer.data as T; // errors were thrown
}

function once(): { "Idempotency-Key": string } {
  return { "Idempotency-Key": crypto.randomUUID() };
}

function askedToWaitMs(answer: Response): number | undefined {
  const asked = answer.headers.get("Retry-After") ?? "";
  return /^\d+$/.test(asked) ? Math.min(Number(asked) * 1000, LONGEST_WAIT_MS) : undefined;
}

/** 0.1 to 0.2 s after the first, doubling to half a minute; many clients do not come back at the same moment. */
function backoffMs(failures: number): number {
  return Math.min(200 * 2 ** Math.min(failures, 10), LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
}
