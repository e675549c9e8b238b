/** What is looked at, as the address says it: a view can be sent, and the browser's way back works. */
import { useSearchParams } from "@solidjs/router";

export type Status = "active" | "superseded" | "expired" | "deleted";
export type Tier = "both" | "memories" | "said";
export const STATUSES: Status[] = ["active", "superseded", "expired", "deleted"];
export const TIERS: Tier[] = ["both", "memories", "said"];

type Params = {
  ns?: string; q?: string; in?: string; kind?: string | string[]; tag?: string; status?: string; order?: string; min?: string; tab?: string;
  from?: string; before?: string; at?: string; sure?: string; pinned?: string;
};
/** None of the filters. */
export const UNFILTERED = { kind: [], tag: undefined, status: undefined, min: undefined, from: undefined, before: undefined, at: undefined, sure: undefined, pinned: undefined };

const day = (given?: string) => (given && /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given)) ? given : undefined);
const time = (given?: string) => (given && !Number.isNaN(Date.parse(given)) ? given : undefined);
const bounded = (given: string | undefined, most: number) => Math.min(Math.max(Number(given) || 0, 0), most);


export function useAddress() {
  const [params, setParams] = useSearchParams<Params>();
  const one = (value?: string | string[]): string | undefined => (Array.isArray(value) ? value[0] : value) || undefined;
  return {
    namespace: () => one(params.ns),
    text: () => one(params.q) ?? "",
    tier: (): Tier => TIERS.find((each) => each === params.in) ?? "both",
    kinds: (): string[] => [params.kind ?? []].flat().filter(Boolean),
    tag: () => one(params.tag),
    status: (): Status => STATUSES.find((each) => each === params.status) ?? "active",
    order: () => (params.order === "created" ? "created" : "importance") as "created" | "importance",
    least: () => bounded(params.min, 10),
    /** Of a search: what was said or happened from a day on, before another; what held at a time; confidence in percent. */
    from: () => day(one(params.from)),
    before: () => day(one(params.before)),
    at: () => time(one(params.at)),
    confidence: () => bounded(params.sure, 100),
    pinned: () => params.pinned === "yes",
    narrowed: () => Boolean(params.from || params.before || params.at || params.sure || params.pinned),
    tab: () => one(params.tab) ?? "sources",
    filtered: () => Boolean(params.kind?.length || params.tag || params.status || Number(params.min)),
    set: (change: Partial<Params>, replace = true) => setParams(change, { replace }),
    /** The address of a memory in the same view. */
    to: (id?: string) => `/memories${id ? `/${encodeURIComponent(id)}` : ""}?${query(params)}`,
  };
}

export type Address = ReturnType<typeof useAddress>;

function query(params: Partial<Params>): string {
  const pairs = Object.entries(params).flatMap(([name, value]) => [value].flat().map((each) => [name, each ?? ""]));
  return new URLSearchParams(pairs.filter(([name, value]) => value && name !== "tab") as [string, string][]).toString();
}
