/** Memory events as they come, over a stream that goes on where it broke off. EventSource cannot send a key, so this reads the stream itself. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import { BASE, problemOf, type Shape } from "../api/client";
import { key } from "../app/session";

export type MemoryEvent = Shape<"MemoryEvent">;
/** A change of a memory; of what was erased, only that it was. */
export type Happened = MemoryEvent | Shape<"ActivityEvent">;
export const isOfMemory = (event: Happened): event is MemoryEvent => event.type.startsWith("memstream.memory.");
const AGAIN_MS = 2_000;

export type Follower = { heard: (event: Happened) => void; state: (state: "open" | "broken", error?: unknown) => void };

/** The place that a stream begins at. Its frame holds no event, so the parser drops it; but what happens until the first event would be lost without it. */
const placeIn = (text: string) => /^id: ?(.*)\r?\n/m.exec(text)?.[1] ?? "";

/** Follows until the signal ends it. */
export async function follow(namespace: string, fromBeginning: boolean, follower: Follower, signal: AbortSignal): Promise<void> {
  let last = "";
  while (!signal.aborted) {
    try {
      const address = `${BASE}/v1/events?${new URLSearchParams({ namespace, since: fromBeginning ? "beginning" : "now" })}`;
      const headers = { ...(key() && { Authorization: `Bearer ${key()}` }), ...(last && { "Last-Event-ID": last }) };
      const response = await fetch(address, { headers, signal });
      if (!response.ok || !response.body) throw problemOf(response, await response.json().catch(() => null));
      follower.state("open");
      const events = response.body
        .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
        .pipeThrough(new TransformStream<string, string>({ transform: (text, on) => (last ||= placeIn(text), on.enqueue(text)) }))
        .pipeThrough(new EventSourceParserStream());
      const reader = events.getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        last = read.value.id ?? last;
        if (read.value.data) follower.heard(JSON.parse(read.value.data) as Happened);
      }
    } catch (failed) {
      if (signal.aborted) return;
      follower.state("broken", failed);
    }
    await new Promise((resume) => setTimeout(resume, AGAIN_MS));
  }
}
