/** What is looked at, as the address says it: a view can be sent, and the browser's way back works. */
import { useSearchParams } from "@solidjs/router";

export type Status = "active" | "superseded" | "expired";
export type Tier = "both" | "memories" | "said";
export const STATUSES: Status[] = ["active", "superseded", "expired"];
export const TIERS: Tier[] = ["both", "memories", "said"];

type Params = { ns?: string; q?: string; in?: string; kind?: string | string[]; tag?: string; status?: string; order?: string; min?: string; tab?: string };

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
    least: () => Math.min(Math.max(Number(params.min) || 0, 0), 10),
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
