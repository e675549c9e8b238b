/** Taking memories out and bringing them in, as streams that tell how far they are. */
import { BASE, problemOf, type Shape } from "../api/client";
import { key } from "../app/session";
import { type Person, userQuery } from "./Fields";

export type Step = Shape<"ImportProgress"> | Shape<"ImportReport">;
export const isReport = (step: Step): step is Shape<"ImportReport"> => "problems" in step;
const LINES = "application/x-ndjson";
const EVERYTHING = [["versions", "true"], ...["active", "superseded", "expired", "deleted"].map((status) => ["status", status])];

async function streamed(path: string, parameters: Record<string, string> | string[][], init: RequestInit): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const headers = { ...(key() && { Authorization: `Bearer ${key()}` }), ...init.headers };
  const response = await fetch(`${BASE}${path}?${new URLSearchParams(parameters)}`, { ...init, headers });
  if (!response.ok || !response.body) throw problemOf(response, await response.json().catch(() => null));
  return response.body;
}

export type Progress = (lines: number) => void;

/** The memories of a namespace; all that is held, with versions and deleted memories. */
export const exportMemories = (namespace: string, all: boolean, progress: Progress, signal: AbortSignal) =>
  exported("/v1/export", [["namespace", namespace], ...(all ? EVERYTHING : [])], progress, signal);

/** What is stored about a user: memories and messages. */
export const exportUser = (person: Person, progress: Progress, signal: AbortSignal) =>
  exported("/v1/users/export", Object.entries(userQuery(person)).filter((each): each is [string, string] => each[1] !== undefined), progress, signal);

/** A stream that is cut off throws: half an export is none. */
async function exported(path: string, parameters: string[][], progress: Progress, signal: AbortSignal): Promise<Blob> {
  const body = await streamed(path, parameters, { signal });
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let lines = 0;
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts, { type: LINES });
    parts.push(value);
    progress((lines += linesIn(value)));
  }
}

export async function importMemories(namespace: string, file: File, progress: (step: Step) => void, signal: AbortSignal): Promise<void> {
  const headers = { "Content-Type": LINES, Accept: LINES };
  const body = await streamed("/v1/import", { namespace }, { method: "POST", body: file, headers, signal });
  const decoder = new TextDecoder();
  let rest = "";
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read();
    const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
    rest = lines.pop()!;
    lines.filter(Boolean).forEach((line) => progress(JSON.parse(line) as Step));
    if (done) return;
  }
}

const linesIn = (bytes: Uint8Array) => bytes.reduce((count, byte) => count + Number(byte === 10), 0);

/** Has the browser save it under a name. */
export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const fileName = (subject: string, ending: string) => `${subject.replace(/[^\p{L}\p{N}._-]+/gu, "-")}-${new Date().toISOString().slice(0, 10)}.${ending}`;
