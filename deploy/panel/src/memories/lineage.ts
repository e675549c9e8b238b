/** What held when: a memory, what it replaced and was replaced by, and what it tells more of, each with its period. */
import { answered, api, type Shape } from "../api/client";
import { saidAt, type Memory } from "./MemoryRow";

export type Relation = Shape<"Linked">["relation"];
export type Period = { memory: Memory; relation?: Relation; from: number; until?: number };
const FARTHEST = 8; // replacements that are followed in each direction

const read = (id: string, signal: AbortSignal) =>
  answered(api.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: id }, query: { detail: "short" } }, signal })).catch(() => undefined);

/** The memories that one replaced, or that replaced it, the nearest first. Those that are gone end the chain. */
async function chain(memory: Memory, next: "supersedes" | "superseded_by", signal: AbortSignal): Promise<Memory[]> {
  const found = [memory];
  while (found.length <= FARTHEST) {
    const id = found.at(-1)![next];
    const other = id && !found.some((each) => each.memory_id === id) ? await read(id, signal) : undefined;
    if (!other || signal.aborted) break;
    found.push(other);
  }
  return found.slice(1);
}

export async function lineage(memory: Memory, linked: Shape<"Linked">[], signal: AbortSignal): Promise<Period[]> {
  const [before, after] = await Promise.all([chain(memory, "supersedes", signal), chain(memory, "superseded_by", signal)]);
  const of = (relation: Relation) => (each: Memory) => ({ memory: each, relation });
  const every = [{ memory }, ...linked, ...before.map(of("supersedes")), ...after.map(of("superseded_by"))];
  const unique = new Map<string, { memory: Memory; relation?: Relation }>();
  for (const each of every) if (!unique.has(each.memory.memory_id)) unique.set(each.memory.memory_id, each);
  return periods([...unique.values()]);
}

const begin = (memory: Memory) => Date.parse(memory.valid_from ?? saidAt(memory));

/** The earliest first. What was replaced held until its own end, or until what replaced it begins. */
export function periods(memories: { memory: Memory; relation?: Relation }[]): Period[] {
  const byId = new Map(memories.map(({ memory }) => [memory.memory_id, memory]));
  const end = (memory: Memory): number | undefined => {
    if (memory.valid_until) return Date.parse(memory.valid_until);
    if (memory.status === "active") return undefined;
    const successor = memory.superseded_by ? byId.get(memory.superseded_by) : undefined;
    return successor ? begin(successor) : Date.parse(memory.expires_at ?? memory.updated_at);
  };
  return memories
    .map(({ memory, relation }) => ({ memory, relation, from: begin(memory), until: end(memory) }))
    .sort((a, b) => a.from - b.from || a.memory.created_at.localeCompare(b.memory.created_at));
}
